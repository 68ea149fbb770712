/** The bars of one load. */
export interface Group {
  readonly title: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

const [WIDTH, LABELS, VALUES, HEAD] = [800, 200, 60, 60];
const [BAR, GAP] = [10, 10];
const COLOURS = ["#2266bb", "#c58a2a", "#a05195", "#5a9a5a", "#a8b3c0"];

/** A chart of horizontal bars, readable on a light and on a dark page. The bars of each group have the same order. */
export function barChart(title: string, unit: string, groups: readonly Group[]): string {
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const longest = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)), Number.MIN_VALUE);
  const scale = (WIDTH - LABELS - VALUES) / longest;
  let top = HEAD;
  const rows = groups.map(({ title: label, bars }) => {
    const start = top;
    const parts = bars.map(({ name, value }) => {
      const width = (value * scale).toFixed(1);
      const bar = `<rect x="${LABELS}" y="${top}" width="${width}" height="${BAR - 1}" fill="${COLOURS[names.indexOf(name)]}"/>`;
      const text = `<text x="${LABELS + Number(width) + 5}" y="${top + BAR - 1}" font-size="10">${figure(value)}</text>`;
      top += BAR;
      return `${bar}${text}`;
    });
    const middle = (start + top) / 2 + 4;
    top += GAP;
    return `<text x="${LABELS - 10}" y="${middle}" text-anchor="end">${label}</text>\n${parts.join("\n")}`;
  });
  const legend = names.map(
    (name, index) =>
      `<rect x="${12 + index * 150}" y="36" width="10" height="10" fill="${COLOURS[index]}"/><text x="${26 + index * 150}" y="45">${name}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img" aria-label="${title}" font-family="sans-serif" font-size="12">
<rect width="${WIDTH}" height="${top}" fill="#fff"/>
<text x="12" y="22" font-size="15" font-weight="bold">${title}</text>
<text x="${WIDTH - 12}" y="22" text-anchor="end" fill="#555">${unit}</text>
${[...legend, ...rows].join("\n")}
</svg>
`;
}

/** A figure with as many digits as a reader can use. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
