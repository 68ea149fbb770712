/** Excel reads a file as UTF-8 only if it begins with this mark. */
export const BYTE_ORDER_MARK = "\uFEFF";

/** What a field is quoted for (RFC 4180, section 2). Some programs also guess the separator. */
const special = /[",;\t\r\n]/;
/** A text that spreadsheets run as a formula, after any number of apostrophes. */
const formula = /^'*[=+\-@\t\r]/;

/** One record as a line of CSV. A text that a spreadsheet would run gets an apostrophe, which `textOfField` takes away. */
export function csvLine(values: readonly (string | bigint | number | undefined)[], separator = ","): string {
  const fields = values.map((value) => {
    const text = typeof value === "string" && formula.test(value) ? `'${value}` : String(value ?? "");
    return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${fields.join(separator)}\r\n`;
}

/** The text that `csvLine` has written as this field. */
export function textOfField(field: string): string {
  return field.startsWith("'") && formula.test(field) ? field.slice(1) : field;
}
