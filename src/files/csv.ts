import type { CsvError, Parser } from "csv-parse";
import { type LineFault, type Lines, UnreadableRest } from "./lines.ts";

/** Characters that a field is quoted for (RFC 4180, section 2). */
const special = /[",\r\n]/;

/** Longest record, in bytes. It bounds how much is read in search of the quote that closes a field. */
const MAX_RECORD = 1024 * 1024;

const meanings: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "has a quote that is never closed",
  CSV_INVALID_CLOSING_QUOTE: "has something between a closing quote and the next comma",
  INVALID_OPENING_QUOTE: "has a quote within a field that does not begin with one",
  CSV_MAX_RECORD_SIZE: `is a record of more than ${MAX_RECORD} bytes`,
};

/** One record: its fields, and the number of the line that it begins on. */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/** The complete records of some lines, and faults for lines that are not UTF-8. */
export interface CsvRecords {
  readonly records: readonly CsvRecord[];
  readonly faults: readonly LineFault[];
}

/**
 * Reads the records of a CSV file (RFC 4180; lines may also end with a bare line feed). Empty lines are left out.
 * Throws `UnreadableRest` at a quote that breaks the rules, at a record over 1 MiB, and where `source` throws it.
 */
export async function* readCsv(source: AsyncIterable<Lines>): AsyncGenerator<CsvRecords> {
  const { parse } = await import("csv-parse"); // here, because few processes read a CSV file
  let records: CsvRecord[] = [];
  let faults: readonly LineFault[] = [];
  let line = 1; // the number of the line of the next record if empty lines did not count
  const parser = parse({
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_RECORD,
    on_record: (fields: string[], { empty_lines }) => {
      records.push({ line: line + empty_lines, fields });
      line += 1 + lineFeeds(fields);
      return null;
    },
  });
  parser.on("error", () => {}); // the writer gets the error
  try {
    for await (const lines of source) {
      faults = lines.faults;
      await write(parser, lines.bytes);
      yield { records, faults };
      [records, faults] = [[], []];
    }
    await end(parser);
  } catch (error) {
    if (error instanceof UnreadableRest) await end(parser).catch(() => {}); // it still holds the record before that line
    const meaning = meanings[(error as CsvError).code];
    yield { records, faults }; // those before it
    throw meaning === undefined ? error : new UnreadableRest(line + parser.info.empty_lines, meaning);
  }
  yield { records, faults };
}

/** One record as a line of CSV (RFC 4180). */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map((field) => (special.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",")}\r\n`;
}

function lineFeeds(fields: readonly string[]): number {
  let count = 0;
  for (const field of fields) if (field.includes("\n")) count += field.split("\n").length - 1;
  return count;
}

function write(parser: Parser, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    parser.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

function end(parser: Parser): Promise<void> {
  return new Promise((resolve, reject) => {
    parser.once("error", reject);
    parser.once("end", resolve);
    parser.resume();
    parser.end();
  });
}
