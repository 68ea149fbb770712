import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { type LineFault, readLines, UnreadableRest } from "../../../files/lines.ts";
import { NewPet, type Pet } from "../pets.schemas.ts";
import { type Format, fileHead, formats, type IdRule, parsePets, petWriter } from "./formats.ts";

/** The fields of an animal, as messages list them. */
const fieldNames = Object.keys(NewPet.properties).join(", ");

/** The bytes of a text in chunks of this size. */
async function* pieces(text: string | Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function read(format: Format, text: string | Uint8Array, ids?: IdRule, size = 7) {
  const animals: (NewPet & { id?: bigint })[] = [];
  const lines: number[] = [];
  const faults: LineFault[] = [];
  try {
    for await (const part of parsePets(format, ids, readLines(pieces(text, size)))) {
      animals.push(...part.pets.map(({ pet }) => ({ ...pet })));
      lines.push(...part.pets.map(({ line }) => line));
      faults.push(...part.faults);
    }
  } catch (error) {
    if (!(error instanceof UnreadableRest)) throw error;
    faults.push({ line: error.line, message: error.message });
  }
  return { animals, lines, faults };
}

const rest = "; what follows it was not read";

/** Any texts, including those that are difficult for one of the formats. */
const name = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
    fc.constantFrom('"', '""', ",", "\ufeff", " x ", "é", "🐕", "=1+1", "\u2027", "'"),
  )
  .filter((text) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text));
const value = fc.oneof(name, fc.constantFrom("\r\n", "a\n", "\r", "\t"));
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const status = fc.option(fc.constantFrom("available", "pending", "sold"), { nil: undefined });
const price = fc.option(
  fc.record({ amount: fc.bigInt({ min: 0n, max: 10n ** 12n }), currency: fc.constantFrom("EUR", "JPY", "KWD") }),
  { nil: undefined },
);
const reference = fc.option(
  name.filter((text) => text.trim() !== ""),
  { nil: undefined },
);
const metadata = fc.option(
  fc.dictionary(
    name.filter((text) => text !== "__proto__"),
    value,
    { minKeys: 1, maxKeys: 3 },
  ),
  { nil: undefined },
);
/** By ascending id. */
const pets = fc
  .uniqueArray(
    fc.record({
      id: fc.bigInt({ min: 1n, max: 2n ** 62n }),
      name,
      categoryId: int64,
      status,
      price,
      reference,
      metadata,
    }),
    {
      selector: ({ id }) => id,
    },
  )
  .map((drawn) => drawn.toSorted((one, other) => (one.id < other.id ? -1 : 1)));

describe.each([...formats])("a file of the format %s", (format) => {
  test("returns every animal unchanged, whatever it contains and however the file is split", async () => {
    await fc.assert(
      fc.asyncProperty(pets, fc.integer({ min: 1, max: 100 }), async (drawn, size) => {
        const animals = drawn.map(({ status: state, price: asked, reference: number, metadata: kept, ...pet }) => ({
          ...pet,
          ...(asked && { price: asked }),
          ...(number && { reference: number }),
          ...(state && { status: state }),
          ...(kept && { metadata: kept }),
        })) as Pet[];
        const text = fileHead(format) + petWriter(format)(animals);
        expect(await read(format, text, "keep", size)).toMatchObject({ animals, faults: [] });
      }),
      { numRuns: 300 },
    );
  });

  test("may begin with a byte order mark, and end without a line break", async () => {
    const text = `\ufeff${fileHead(format)}${petWriter(format)([{ id: 1n, name: "\ufeffRex", categoryId: 2n }])}`;
    const expected = { animals: [{ id: 1n, name: "\ufeffRex", categoryId: 2n }], faults: [] };
    for (const size of [1, 2, 3, 100]) {
      expect(await read(format, text.trimEnd(), "keep", size)).toMatchObject(expected);
    }
  });

  test("with an endless line is not read to its end", async () => {
    const { faults } = await read(format, "x".repeat(3_000_000), undefined, 100_000);
    expect(faults).toEqual([{ line: 1, message: `is longer than 1048576 bytes${rest}` }]);
  });

  test("with an endless line has the faults of all lines before it", async () => {
    const bad = format === "csv" ? "Rex,one\r\n" : '{"name":"Rex","categoryId":"one"}\n';
    const { faults } = await read(format, `${fileHead(format)}${bad}${"x".repeat(3_000_000)}`, "new", 100_000);
    const first = format === "csv" ? 2 : 1;
    expect(faults).toEqual([
      { line: first, message: expect.any(String) },
      { line: first + 1, message: `is longer than 1048576 bytes${rest}` },
    ]);
  });
});

describe("JSON Lines", () => {
  test("may have a byte order mark in the first line only, however the file is split", async () => {
    for (const size of [1, 100]) {
      const { faults } = await read("jsonl", '\n\ufeff{"name":"Rex","categoryId":1}', undefined, size);
      expect(faults).toEqual([{ line: 2, message: "is not valid JSON" }]);
    }
  });

  test("is validated like createPet, with the line of each fault", async () => {
    const text = [
      '{"name":"Rex","categoryId":9223372036854775807,"status":"sold"}\r',
      "",
      '{"name":"","categoryId":1.5}',
      '{"name":"Rex","categoryId":1,"status":null}',
      '{"name":"Rex","categoryId":9223372036854775808,"colour":"red"}',
      "[]",
      "{",
      '{"name":"Tom","categoryId":-1}',
    ].join("\n");
    const { animals, lines, faults } = await read("jsonl", text);
    expect(animals).toEqual([
      { name: "Rex", categoryId: 2n ** 63n - 1n, status: "sold" },
      { name: "Tom", categoryId: -1n },
    ]);
    expect(lines).toEqual([1, 8]);
    expect(faults).toEqual([
      {
        line: 3,
        message: "/name must have at least 1 character; it has 0; /categoryId must be a 64-bit integer; got 1.5",
      },
      { line: 4, message: "/status must be one of available, pending, sold; got null" },
      {
        line: 5,
        message: `/colour is not a field of an animal; it has ${fieldNames}; /categoryId must be a 64-bit integer; got 9223372036854775808`,
      },
      { line: 6, message: "must be an object; got an array" },
      { line: 7, message: "is not valid JSON" },
    ]);
  });

  test("reports each line that is not UTF-8", async () => {
    const bytes = Buffer.from('{"name":"A?","categoryId":1}\n{"name":"B","categoryId":1}\n?\n');
    for (const [index, byte] of bytes.entries()) if (byte === 0x3f) bytes[index] = 0xff;
    for (const size of [1, 30, 1000]) {
      const { animals, faults } = await read("jsonl", bytes, undefined, size);
      expect(animals).toEqual([{ name: "B", categoryId: 1n }]);
      expect(faults).toEqual([1, 3].map((line) => ({ line, message: "is not valid UTF-8" })));
    }
  });
});

describe("CSV", () => {
  test("is validated like createPet, with the first line of the record of each fault", async () => {
    const text = [
      "status,name,categoryId",
      'sold,"a\r\nb",-9223372036854775808',
      "",
      ',"say ""hi"", Rex",2',
      ",Tom",
      ",,1",
      "gone,Tom,007",
      "x",
      'sold,"x\n\ny",1',
      ",Tom,",
    ].join("\r\n");
    for (const size of [1, 9, 1000]) {
      const { animals, lines, faults } = await read("csv", text, undefined, size);
      expect(animals).toEqual([{ name: 'say "hi", Rex', categoryId: 2n }]);
      expect(lines).toEqual([5]);
      expect(faults).toEqual([
        { line: 2, message: "/name must hold no control character; character 2 is U+000D" },
        { line: 6, message: "has 2 fields where the header has 3" },
        { line: 7, message: "/name must have at least 1 character; it has 0" },
        {
          line: 8,
          message:
            '/status must be one of available, pending, sold; got "gone"; /categoryId must be a 64-bit integer; got "007"',
        },
        { line: 9, message: "has 1 field where the header has 3" },
        { line: 10, message: "/name must hold no control character; character 2 is U+000A" },
        { line: 13, message: '/categoryId must be a 64-bit integer; got ""' },
      ]);
    }
  });

  test.each([
    ["", "is missing: a CSV file begins with the names of its columns"],
    [
      "name,categorie\nRex,1",
      `has the unknown column "categorie"; known columns are ${fieldNames}, currency, category${rest}`,
    ],
    [
      "name,categoryId,__proto__\nRex,1,1",
      `has the unknown column "__proto__"; known columns are ${fieldNames}, currency, category${rest}`,
    ],
    ["name,status\nRex,sold", `lacks the column categoryId${rest}`],
    ["status\nsold", `lacks the columns name, categoryId${rest}`],
    ["name,categoryId,name\nRex,1,Tom", `has the column name twice${rest}`],
  ])("is refused with an invalid header: %j", async (text, message) => {
    expect(await read("csv", text)).toMatchObject({ animals: [], faults: [{ line: 1, message }] });
  });

  test.each([
    ['Rex,1\n\n\r\n"Tom,1\nKim,1', 5, `has a quote that is never closed${rest}`],
    ['Rex,1\n"T"om,1\nKim,1', 3, `has something after a closing quote${rest}`],
  ])("is read up to a quote that breaks the rules: %j", async (records, line, message) => {
    const { animals, faults } = await read("csv", `name,categoryId\n${records}`, undefined, 1000);
    expect(animals).toEqual([{ name: "Rex", categoryId: 1n }]);
    expect(faults).toEqual([{ line, message }]);
  });

  test("reports text that is not UTF-8, also before a broken quote", async () => {
    const bytes = Buffer.from('name,categoryId\nA?,1\nB,1\n"C"?,1\n');
    bytes[bytes.indexOf("?")] = 0xff;
    const { faults } = await read("csv", bytes, undefined, 1000);
    expect(faults.map(({ line }) => line)).toEqual([2, 4]);
    expect(faults[0]?.message).toBe("is not valid UTF-8");
  });
});

test("a CSV file has prices as decimals, in the currency of their line or of the shop", async () => {
  const rows = ["A;1;12,90;", "B;1;1290;JPY", "C;1;;EUR", "D;1;1.5;KWD", "E;1;12.900;", "F;1;12 €;"];
  const file = ["name;categoryId;price;currency", ...rows].join("\r\n");
  const readWith = async (currency: string | undefined) => {
    const parts = parsePets("csv", undefined, readLines(pieces(file, 10)), { categories: new Map(), currency });
    const found = await Array.fromAsync(parts);
    const prices = found.flatMap(({ pets: some }) => some.map(({ pet }) => pet.price));
    return { prices, faults: found.flatMap(({ faults }) => faults.map(({ line, message }) => `${line} ${message}`)) };
  };
  const [yen, dinar] = [
    { amount: 1_290n, currency: "JPY" },
    { amount: 1_500n, currency: "KWD" },
  ];
  expect(await readWith("EUR")).toEqual({
    prices: [{ amount: 1_290n, currency: "EUR" }, yen, undefined, dinar],
    faults: [
      '6 /price must be an amount such as 129.00; got "12.900"',
      '7 /price must be an amount such as 129.00; got "12 €"',
    ],
  });
  const { prices, faults } = await readWith(undefined);
  expect([prices, faults[0]]).toEqual([
    [yen, undefined, dinar],
    expect.stringMatching(/^2 \/price\/currency is required, because the shop has no currency/),
  ]);
});

test("a CSV file may have the names or ids of categories", async () => {
  const file = "name;category\r\nRex; DOGS\r\nTom;-2\r\nIda;Cats\r\n";
  const parts = parsePets("csv", undefined, readLines(pieces(file, 10)), {
    categories: new Map([["dogs", 7n]]),
    currency: undefined,
  });
  const found = await Array.fromAsync(parts);
  expect(found.flatMap(({ pets: some }) => some.map(({ pet }) => pet))).toEqual([
    { name: "Rex", categoryId: 7n },
    { name: "Tom", categoryId: -2n },
  ]);
  expect(found.flatMap(({ faults }) => faults)).toEqual([{ line: 4, message: 'No category is called "Cats"' }]);
});

describe("an id in a file", () => {
  const files: [Format, string][] = [
    ["jsonl", '{"id":4611686018427387904,"name":"Rex","categoryId":1}'],
    ["csv", "id,name,categoryId\n4611686018427387904,Rex,1"],
  ];
  const message = "/id needs --ids keep to be kept, or --ids new to be replaced by a new id";

  test.each(files)("is a fault without --ids (%s)", async (format, text) => {
    const { animals, faults } = await read(format, text);
    expect([animals, faults]).toEqual([[], [{ line: 1, message: format === "csv" ? message + rest : message }]]);
  });

  test.each(files)("can be kept exactly (%s)", async (format, text) => {
    expect((await read(format, text, "keep")).animals).toEqual([{ id: 2n ** 62n, name: "Rex", categoryId: 1n }]);
  });

  test.each(["0", "-1", "4611686018427387905"])(
    "of %s is refused with --ids keep: it is not positive, or leaves too few ids for later animals",
    async (id) => {
      const { animals, faults } = await read("jsonl", `{"id":${id},"name":"Rex","categoryId":1}`, "keep");
      expect([animals, faults]).toEqual([[], [{ line: 1, message: "/id must be from 1 to 4611686018427387904" }]]);
    },
  );

  test("is required with --ids keep and optional with --ids new", async () => {
    const text = '{"name":"Rex","categoryId":1}';
    expect((await read("jsonl", text, "keep")).faults).toEqual([{ line: 1, message: "/id is required" }]);
    expect(await read("jsonl", text, "new")).toMatchObject({ animals: [{ name: "Rex" }], faults: [] });
  });
});
