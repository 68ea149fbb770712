import { useState } from "preact/hooks";
import { numberOf, wordOf } from "./words.ts";

/** A part of each bar: its name, and the CSS class for its colour. */
export type Series = readonly (readonly [name: string, style: string])[];

/** Sets the text of an SVG element, which has no elements of HTML for it. */
const showing = (text: string) => (element: SVGElement | null) => {
  if (element) element.textContent = text;
};

export interface Bar {
  /** The label of the bar on the axis, and in full. */
  readonly label: string;
  readonly title: string;
  /** One value for each series. */
  readonly values: readonly number[];
}

interface ChartProps {
  readonly label: string;
  /** What is counted. */
  readonly unit: string;
  readonly series: Series;
  readonly bars: readonly Bar[];
}

const HEIGHT = 160;
/** The most lines and labels on the axes. */
const LINES = 4;
const LABELS = 4;

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** A round distance between the lines of the axis: the highest bar needs at most `LINES` of them above zero. */
function stepOf(highest: number): number {
  const least = Math.max(1, highest / LINES);
  const power = 10 ** Math.floor(Math.log10(least));
  return Math.ceil(least / power) * power;
}

/** Bars over time. The pointer and the arrow keys show the exact values of one bar; a table has all values. */
export function Chart({ label, unit, series, bars }: ChartProps) {
  const [chosen, choose] = useState<number>();
  const totals = bars.map(({ values }) => sumOf(values));
  const step = stepOf(Math.max(...totals));
  const top = Math.max(1, Math.ceil(Math.max(...totals) / step)) * step;
  const lines = Array.from({ length: top / step + 1 }, (_, index) => index * step);
  const width = 100 / bars.length;
  const every = Math.ceil(bars.length / LABELS);
  const describe = (index: number) => {
    const values = series.map(([name], part) => `${numberOf(bars[index]?.values[part] ?? 0)} ${name}`);
    return `${bars[index]?.title}: ${numberOf(totals[index] ?? 0)} ${unit}, ${values.join(", ")}`;
  };
  const point = ({ currentTarget, clientX }: { readonly currentTarget: Element; readonly clientX: number }) => {
    const { left, width: all } = currentTarget.getBoundingClientRect();
    choose(Math.min(bars.length - 1, Math.max(0, Math.floor(((clientX - left) / all) * bars.length))));
  };
  const last = bars.length - 1;
  const onKey = (event: KeyboardEvent) => {
    const now = chosen ?? bars.length;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(Math.min(last, Math.max(0, next)));
  };
  return (
    <figure class="chart">
      <figcaption>
        <span class="legend">
          {series.map(([name, style]) => (
            <span key={name} class={`status ${style}`}>
              {name}
            </span>
          ))}
        </span>
        <output>{chosen === undefined ? `${numberOf(sumOf(totals))} ${unit} in all` : describe(chosen)}</output>
      </figcaption>
      <div
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={chosen ?? last}
        aria-valuetext={describe(chosen ?? last)}
        onKeyDown={onKey}
        onBlur={() => choose(undefined)}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => choose(undefined)}
      >
        <svg width="100%" height={HEIGHT} aria-hidden="true">
          {lines.map((value) => {
            const y = HEIGHT - (value / top) * HEIGHT;
            return (
              <g key={value}>
                <line x1="0" x2="100%" y1={y} y2={y} />
                <text x="-8" y={y + 4} text-anchor="end" ref={showing(numberOf(value))} />
              </g>
            );
          })}
          {bars.map(({ label: name, title, values }, index) => {
            let below = 0;
            const isLabelled = (last - index) % every === 0 && index > 0;
            return (
              <g key={title} class={index === chosen ? "chosen" : ""}>
                {values.map((value, part) => {
                  const height = (value / top) * HEIGHT;
                  below += height;
                  const [seriesName, style] = series[part] ?? [];
                  return (
                    value > 0 && (
                      <rect
                        key={seriesName}
                        class={style}
                        x={`${(index + 0.15) * width}%`}
                        width={`${width * 0.7}%`}
                        y={HEIGHT - below}
                        height={height}
                      />
                    )
                  );
                })}
                {isLabelled && (
                  <text x={`${(index + 1) * width}%`} y={HEIGHT + 18} text-anchor="end" ref={showing(name)} />
                )}
              </g>
            );
          })}
        </svg>
      </div>
      <details>
        <summary>Show as a table</summary>
        <table aria-label={label}>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col" class="number">
                All
              </th>
              {series.map(([name]) => (
                <th key={name} scope="col" class="number">
                  {wordOf(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(
              ({ title, values }, index) =>
                totals[index] !== 0 && (
                  <tr key={title}>
                    <th scope="row">{title}</th>
                    {[totals[index], ...values].map((value, column) => (
                      <td key={series[column - 1]?.[0] ?? ""} class="number">
                        {numberOf(value ?? 0)}
                      </td>
                    ))}
                  </tr>
                ),
            )}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
