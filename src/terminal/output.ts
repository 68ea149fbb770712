import { timestampOf } from "../contract/schemas.ts";

// What a terminal could interpret, in a text from a file or a client: control characters, the separators of lines and
// paragraphs, and characters that change the direction of the text around them (Unicode, UAX #9).

/** Escapes such characters. */
export function plain(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Like `plain`, for a text that may have lines and tabs, such as JSON. */
export function plainLines(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, plain);
}

/**
 * A number with its unit, which is given in the singular: `4,096 rows`. For terminals; messages to clients use `count`,
 * without commas.
 */
export function counted(number: number, unit: string): string {
  return `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;
}

/** A time in Unix milliseconds as text; null for none. */
export function iso(time: number | null): string | null {
  return time === null ? null : timestampOf(time);
}

/** How long and how fast, in words. */
export function pace(number: number, seconds: number): string {
  const perSecond = Math.round(number / seconds).toLocaleString("en");
  return `in ${seconds.toFixed(1)} s, ${perSecond} a second`;
}

/** Rows below a row of headings, as columns. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return columns([headings, ...rows]);
}

/** Formats rows as aligned columns, two spaces apart. A wide character, such as an ideograph, counts as two. */
export function columns(texts: readonly (readonly string[])[]): string {
  const rows = texts.map((row) => row.map(plain));
  // Not `Math.max(...widths)`: a call takes fewer arguments than a store can have accounts.
  const widthOf = (column: number) => rows.reduce((most, row) => Math.max(most, Bun.stringWidth(row[column] ?? "")), 0);
  const widths = rows[0]?.map((_, column) => widthOf(column)) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Pads a text with spaces to this width. */
function pad(cell: string, width = 0): string {
  return cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
}
