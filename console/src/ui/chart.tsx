import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { unitOf } from "./money.ts";
import { numberOf, wordOf } from "./words.ts";

/** A part of each bar: its name, and the CSS class that colours it. */
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
  /** What is said about it, instead of its values; below the heads of a table. */
  readonly cells?: readonly string[];
  /** True if the table leaves it out. By default, one whose values are 0. */
  readonly isEmpty?: boolean;
  /** True for the one that is still growing. */
  readonly isNow?: boolean;
}

interface ChartProps {
  readonly label: string;
  /** What is counted. */
  readonly unit: string;
  /** What is shown instead of the total while no bar is chosen. */
  readonly summary?: ComponentChildren;
  /** Instead of a legend. */
  readonly title?: ComponentChildren;
  readonly series: Series;
  /** The heads of the cells of the bars. */
  readonly heads?: readonly string[];
  /** If the values are amounts in the smallest unit of a currency. */
  readonly currency?: string | undefined;
  readonly bars: readonly Bar[];
}

const HEIGHT = 160;
/** The most lines above zero; the most bars that each have a label; the labels of more bars. */
const LINES = 4;
const ALL_LABELLED = 14;
const LABELS = 4;

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** A round distance between the lines of the axis: the highest bar needs at most `LINES` of them above zero. */
function stepOf(highest: number): number {
  const least = Math.max(1, highest / LINES);
  const power = 10 ** Math.floor(Math.log10(least));
  return Math.ceil(least / power) * power;
}

/** Bars over time. The pointer and the arrow keys show the exact values of one bar; a table has all values. */
export function Chart({ label, unit, summary, title: heading, series, bars, currency, ...given }: ChartProps) {
  const [chosen, choose] = useState<number>();
  const isStacked = series.length > 1;
  const heads = given.heads ?? ["All", ...series.map(([name]) => wordOf(name))];
  const totals = bars.map(({ values }) => sumOf(values));
  const least = currency ? unitOf(currency) : 1;
  const step = stepOf(Math.max(...totals) / least) * least;
  const top = Math.max(1, Math.ceil(Math.max(...totals) / step)) * step;
  const lines = Array.from({ length: top / step + 1 }, (_, index) => index * step);
  const width = 100 / bars.length;
  const filled = Math.min(0.78, bars.length / 6); // few bars are not much wider than many
  const every = bars.length <= ALL_LABELLED ? 1 : Math.ceil(bars.length / LABELS);
  const describe = (index: number) => {
    const { title = "", values = [], cells } = bars[index] ?? {};
    const parts = series.map(([name], part) => `${numberOf(values[part] ?? 0)} ${name}`);
    const told = cells ?? [`${numberOf(totals[index] ?? 0)} ${unit}`, ...parts];
    return `${title}: ${told.filter(Boolean).join(", ")}`;
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
        {heading ?? (
          <span class="legend">
            {series.map(([name, style]) => (
              <span key={name} class={`dot ${style}`}>
                {name}
              </span>
            ))}
          </span>
        )}
        <output>
          {chosen === undefined ? (summary ?? `${numberOf(sumOf(totals))} ${unit} in all`) : describe(chosen)}
        </output>
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
                <text x="-8" y={y + 4} text-anchor="end" ref={showing(numberOf(value / least))} />
              </g>
            );
          })}
          {bars.map(({ label: name, title, values, isNow }, index) => {
            let below = 0;
            const isLabelled = (last - index) % every === 0 && (index > 0 || every === 1);
            return (
              <g key={title} class={`${index === chosen ? "chosen" : ""} ${isNow ? "now" : ""}`}>
                {values.map((value, part) => {
                  const height = (value / top) * HEIGHT;
                  below += height;
                  const [seriesName, style] = series[part] ?? [];
                  return (
                    value > 0 && (
                      <rect
                        key={seriesName}
                        class={style}
                        x={`${(index + (1 - filled) / 2) * width}%`}
                        width={`${width * filled}%`}
                        y={HEIGHT - below}
                        height={height}
                        rx={isStacked ? 0 : 3}
                      />
                    )
                  );
                })}
                {isLabelled && (
                  <text
                    x={`${(index + (every > 1 ? 1 : 0.5)) * width}%`}
                    y={HEIGHT + 18}
                    text-anchor={every > 1 ? "end" : "middle"}
                    ref={showing(name)}
                  />
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
              {heads.map((head) => (
                <th key={head} scope="col" class="number">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(
              ({ title, values, cells, isEmpty }, index) =>
                !(isEmpty ?? totals[index] === 0) && (
                  <tr key={title}>
                    <th scope="row">{title}</th>
                    {(cells ?? [totals[index] ?? 0, ...values]).map((value, column) => (
                      <td key={heads[column]} class="number">
                        {typeof value === "number" ? numberOf(value) : value}
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
