import { plain } from "./plain.ts";

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
