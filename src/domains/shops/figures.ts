import type { Row } from "../../storage/statement.ts";
import { count, type Table } from "../../storage/table.ts";
import { DAY_MS } from "../../timing/clock.ts";
import type { ShownField, ShownOfDay } from "./shops.operations.ts";

type Columns = Table["columns"];

/** What a domain keeps in the row of each shop and shows in the shop's summary. */
export interface ShopFigures {
  /** What it counts, in words. */
  readonly of?: string;
  /** Its columns, besides those of `today`. */
  readonly columns: Columns;
  readonly fields?: Readonly<Record<string, SummaryField>>;
  readonly today?: readonly DayFigure[];
  /** SQL of rows that are read with that of the shop `$1`, so that all is consistent. At most one domain has any. */
  readonly joined?: { readonly columns: string; readonly rows: string; readonly order: string };
}

/** A field of the summary. */
interface SummaryField extends ShownField {
  /** Its value in the row of the shop, with each of the rows that are joined. If undefined, it is absent. */
  readonly read: (rows: readonly [Row, ...Row[]]) => unknown;
}

/** A count of one day: the column `…_count` is for the day `…_day`, in days since 1970. */
export interface DayFigure extends ShownOfDay {
  readonly name: string;
  /** SQL of the same count in the rows of events. */
  readonly inEvents: string;
}

declare const isCountColumn: unique symbol;
/** The column of what a shop has now of something. */
export type CountColumn = string & { readonly [isCountColumn]: true };

/** Says that the columns of `ShopFigures` have this one, which counts something. */
export function countColumn(name: string): CountColumn {
  return name as CountColumn;
}

/** A count that changes: a day's, or what the shop has now. */
export type Figure = DayFigure | CountColumn;

/** SQL: how many events meet a condition. */
export function eventsWhere(condition: string): string {
  return `coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;
}

/** What all domains keep and show. */
export type AllFigures = ReturnType<typeof allFigures>;

export function allFigures(domains: readonly ShopFigures[]) {
  const today = domains.flatMap((one) => one.today ?? []);
  const ofDays = today.map(({ name }): Columns => ({ [`${name}_count`]: count, [`${name}_day`]: count }));
  return {
    of: domains.flatMap(({ of = [] }) => of).join(", "),
    columns: Object.assign({}, ...domains.map(({ columns }) => columns), ...ofDays) as Columns,
    fields: Object.assign({}, ...domains.map(({ fields }) => fields)) as Readonly<Record<string, SummaryField>>,
    today,
    joined: domains.flatMap(({ joined = [] }) => joined),
  };
}

/** SQL of the day of the shop's time zone at a time, in days since 1970. */
export function localDay(now: string): string {
  return `((${now} + CASE WHEN ${now} >= offset_until THEN next_offset ELSE utc_offset END) / ${DAY_MS})`;
}

/**
 * SQL of an update of a shop's row: adds `more` to a figure of the day. If the figure is already of the next day, another
 * process's clock is a little ahead, and the day that has ended is no longer counted.
 */
export function ofDay({ name }: DayFigure, day: string, more: string): string {
  const isOver = `${name}_day = ${day} + 1`;
  return `${name}_count = CASE WHEN ${isOver} THEN ${name}_count WHEN ${name}_day = ${day} THEN ${name}_count + ${more} ELSE ${more} END,
     ${name}_day = CASE WHEN ${isOver} THEN ${name}_day ELSE ${day} END`;
}
