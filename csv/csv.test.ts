// CSV files as spreadsheets write and read them.
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { inUtf8 } from "./encoding.ts";
import { CsvReader } from "./reader.ts";
import { BYTE_ORDER_MARK, csvLine, textOfField } from "./writer.ts";

function read(text: string, size = text.length) {
  const reader = new CsvReader();
  const parts = [];
  for (let at = 0; at < text.length; at += size) parts.push(reader.read(text.slice(at, at + size)));
  parts.push(reader.read());
  return { records: parts.flatMap(({ records }) => records), fault: parts.find(({ fault }) => fault)?.fault };
}
const fieldsOf = (text: string, size?: number) => read(text, size).records.map(({ fields }) => fields);

test("is read with quotes, line feeds in fields, and either end of line", () => {
  const text = '\uFEFFname,status\r\n"a ""b"", c",sold\n\n"two\nlines",\nMax "the dog",';
  expect(read(text)).toEqual({
    records: [
      { line: 1, fields: ["name", "status"] },
      { line: 2, fields: ['a "b", c', "sold"] },
      { line: 4, fields: ["two\nlines", ""] },
      { line: 6, fields: ['Max "the dog"', ""] },
    ],
    fault: undefined,
  });
});

describe.each(["\r\n", "\n", "\r"])("with lines that end with %j", (end) => {
  test.each([",", ";", "\t"])("is read if fields are separated by %j", (separator) => {
    const text = ["name", "status"].join(separator) + end + [`"a${separator}b"`, "sold"].join(separator) + end;
    for (const size of [5, 100]) {
      expect(fieldsOf(text, size)).toEqual([
        ["name", "status"],
        [`a${separator}b`, "sold"],
      ]);
      expect(read(`${BYTE_ORDER_MARK}sep=${separator}${end}${text}`, size).records[1]?.line).toBe(3);
    }
  });
});

test("may name a separator that the first line does not tell", () => {
  expect(fieldsOf("sep=|\r\na,1|b\r\n")).toEqual([["a,1", "b"]]);
});

test.each([
  ['a,b\n"c"d,e\nf,g\n', 2, "has something after a closing quote"],
  ['a,b\nc,d\n"e,f\n', 3, "has a quote that is never closed"],
])("is read up to a quote out of place: %j", (text, line, message) => {
  expect(read(text).fault).toEqual({ line, message });
  expect(read(text).records.at(-1)?.line).toBe(line - 1);
});

test("stops looking for a closing quote after the longest record", () => {
  const reader = new CsvReader();
  expect(reader.read(`a,b\n"${"x".repeat(1024 * 1024)}`)).toMatchObject({ fault: { line: 2 } });
});

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc
    .array(fc.constantFrom("=", "+", "-", "@", "\t", "\r", "\n", "'", '"', ",", ";", "a", "1"))
    .map((all) => all.join("")),
);

test("gives back any text, which no spreadsheet runs, and leaves numbers as they are", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.bigInt()), { minLength: 1 }), (rows) => {
      const file = BYTE_ORDER_MARK + csvLine(["name", "id"]) + rows.map((row) => csvLine(row)).join("");
      const [, ...records] = fieldsOf(file);
      expect(records.map(([name = "", id]) => [textOfField(name), BigInt(id as string)])).toEqual(rows);
      for (const [name = "", id] of records) {
        expect(name).not.toMatch(/^[=+\-@\t\r]/);
        expect(id).toMatch(/^-?\d+$/);
      }
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ["utf-16le", (unit: number) => [unit & 255, unit >> 8]],
  ["utf-16be", (unit: number) => [unit >> 8, unit & 255]],
] as const)("of the encoding %s is converted, however it is split", async (_, bytesOf) => {
  const bytes = Array.from("\uFEFFZoë\t1\r\n").flatMap((character) => bytesOf(character.charCodeAt(0)));
  for (const size of [1, 3, 100]) {
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += size) yield Uint8Array.from(bytes.slice(at, at + size));
    }
    const converted: number[] = [];
    for await (const piece of inUtf8(pieces())) converted.push(...piece);
    expect(new TextDecoder().decode(Uint8Array.from(converted))).toBe("Zoë\t1\r\n");
  }
});
