import Papa, { type Parser } from "papaparse";

/** One record: its fields, and the number of the line that it begins on. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/** A record that breaks the rules, such as by a quote out of place. Nothing is read from there on. */
export interface CsvFault {
  readonly line: number;
  readonly message: string;
}

/** Separators of fields: which one Excel writes depends on the country. */
const separators = [",", ";", "\t"];
/** Longest record, in characters. It bounds how far a field without a closing quote is read. */
const MAX_RECORD = 1024 * 1024;
const [UNCLOSED, MISPLACED] = ["has a quote that is never closed", "has something after a closing quote"];

/**
 * Reads the records of a CSV file, given in pieces of text. The first line tells how fields are separated, or a line
 * `sep=;` before it. Empty lines are left out.
 */
export class CsvReader {
  #rest = "";
  #form: { readonly parser: Parser; readonly lineEnd: string } | undefined;
  #line = 1;

  /** The records that are complete with this piece; without one, at the end of the file, those that are left. */
  read(piece?: string): { readonly records: CsvRecord[]; readonly fault?: CsvFault } {
    this.#rest += piece ?? "";
    const form = (this.#form ??= this.#findForm(piece === undefined));
    if (!form) return { records: [] };
    const { data, errors, meta } = form.parser.parse(this.#rest, 0, piece !== undefined);
    const broken = errors.find(({ row }) => row < data.length);
    const records = data
      .slice(0, broken?.row)
      .map((fields) => this.#toRecord(fields, form.lineEnd))
      .filter(({ fields }) => fields.length > 1 || fields[0] !== "");
    this.#rest = piece === undefined ? "" : this.#rest.slice(meta.cursor);
    if (broken) return this.#failed(records, broken.code === "MissingQuotes" ? UNCLOSED : MISPLACED);
    return this.#rest.length > MAX_RECORD ? this.#failed(records, UNCLOSED) : { records };
  }

  #failed(records: CsvRecord[], message: string) {
    return { records, fault: { line: this.#line, message } };
  }

  /** How the file is written; undefined as long as its first line is not complete. */
  #findForm(isEnd: boolean) {
    const start = /^\uFEFF?(?:sep=(.)(?:\r?\n|\r))?([^\r\n]*)(\r?\n|\r(?=[^]))?/i.exec(this.#rest);
    const [, separator, header = "", lineEnd] = start ?? [];
    if (lineEnd === undefined && !isEnd) return undefined;
    if (separator !== undefined) this.#line = 2;
    this.#rest = this.#rest.slice((start?.[0].length ?? 0) - header.length - (lineEnd?.length ?? 0));
    const countIn = (one: string) => header.split(one).length;
    const delimiter = separator ?? separators.reduce((best, one) => (countIn(one) > countIn(best) ? one : best));
    const newline = lineEnd === "\r" ? "\r" : "\n";
    return { parser: new Papa.Parser({ delimiter, newline, quoteChar: '"' }), lineEnd: newline };
  }

  #toRecord(given: readonly string[], lineEnd: string): CsvRecord {
    const line = this.#line;
    for (const field of given) this.#line += field.split(lineEnd).length - 1;
    this.#line++;
    const last = given.length - 1; // lines may also end with \r\n
    return { line, fields: given.map((field, index) => (index === last ? field.replace(/\r$/, "") : field)) };
  }
}
