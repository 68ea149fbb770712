/** Rows below a row of headings, as columns. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return columns([headings, ...rows]);
}

/** Rows as columns of equal width, two spaces apart; a wide character, such as an ideograph, takes two places. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => Bun.stringWidth(row[column] ?? "")))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A text with spaces behind it, as wide as this many letters. */
function pad(cell: string, width = 0): string {
  return cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
}
