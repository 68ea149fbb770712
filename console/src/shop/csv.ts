/** One record of a file: its fields, and the number of its first line. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/** A line that breaks the rules of CSV files. */
export class CsvError extends Error {
  readonly line: number;

  constructor(line: number) {
    super("This line is not valid CSV.");
    this.line = line;
  }
}

/** A field with what follows it: a quoted text or a plain one, then a comma, the end of the line or of the file. */
const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Reads the records of a CSV file (RFC 4180; lines may also end with a bare line feed). Throws a `CsvError`. */
export function readCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let fields: string[] = [];
  let line = 1;
  let first = 1; // of the current record
  field.lastIndex = text.startsWith("\uFEFF") ? 1 : 0;
  while (field.lastIndex < text.length) {
    const found = field.exec(text);
    if (!found) throw new CsvError(line);
    const [whole, quoted, plain = "", end] = found;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    line += whole.split("\n").length - 1;
    if (end === "," && field.lastIndex < text.length) continue;
    if (end === ",") fields.push("");
    if (fields.length > 1 || fields[0] !== "") records.push({ line: first, fields });
    fields = [];
    first = line;
  }
  return records;
}

/** A line of a CSV file. */
export function csvLine(values: readonly (string | bigint | number | undefined)[]): string {
  const texts = values.map((value) => {
    const text = String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${texts.join(",")}\r\n`;
}
