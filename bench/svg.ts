/** One bar: the median as its length, the least and the most as a whisker. */
export interface Bar {
  readonly label: string;
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** True for what the chart is about. */
  readonly isOurs: boolean;
}

const WIDTH = 800;
const LABELS = 265;
const VALUES = 110;
const ROW = 30;
const BAR = 16;
const HEAD = 40;

/** A chart of horizontal bars, readable on a light and on a dark page. */
export function barChart(title: string, unit: string, bars: readonly Bar[]): string {
  const longest = Math.max(...bars.map(({ most }) => most), Number.MIN_VALUE);
  const scale = (WIDTH - LABELS - VALUES) / longest;
  const height = HEAD + bars.length * ROW + 12;
  const rows = bars.map((bar, index) => {
    const middle = HEAD + index * ROW + ROW / 2;
    const [end, from, to] = [bar.median, bar.least, bar.most].map((value) => LABELS + value * scale) as [
      number,
      number,
      number,
    ];
    return [
      `<text x="${LABELS - 10}" y="${middle + 4}" text-anchor="end">${escaped(bar.label)}</text>`,
      `<rect x="${LABELS}" y="${middle - BAR / 2}" width="${shown(end - LABELS)}" height="${BAR}" fill="${bar.isOurs ? "#2266bb" : "#a8b3c0"}"/>`,
      `<path d="M${shown(from)} ${middle}H${shown(to)}M${shown(from)} ${middle - 5}v10M${shown(to)} ${middle - 5}v10" stroke="#333" fill="none"/>`,
      `<text x="${shown(Math.max(end, to) + 8)}" y="${middle + 4}">${figure(bar.median)}</text>`,
    ].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}" font-family="sans-serif" font-size="13">
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="12" y="24" font-size="15" font-weight="bold">${escaped(title)}</text>
<text x="${WIDTH - 12}" y="24" text-anchor="end" fill="#555">${escaped(unit)}</text>
${rows.join("\n")}
</svg>
`;
}

/** A figure with as many digits as a reader can use. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function shown(value: number): string {
  return value.toFixed(1);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
