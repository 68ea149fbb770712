import { Type } from "typebox";
import { amountIn, decimalOf } from "../../../../csv/money.ts";
import { nameKey } from "../../../../csv/name-key.ts";
import type { CsvRecord } from "../../../../csv/reader.ts";
import { BYTE_ORDER_MARK, csvLine, textOfField } from "../../../../csv/writer.ts";
import { count, shown } from "../../../contract/messages.ts";
import { parseJson } from "../../../contract/parse-json.ts";
import { parseInt64 } from "../../../contract/schemas.ts";
import { compileSerializer } from "../../../contract/serialize.ts";
import { compileTextReaders } from "../../../contract/validators.ts";
import { type LineFault, type Lines, UnreadableRest } from "../../../files/lines.ts";
import { currencyFault } from "../../shops/prices.ts";
import { NewPet, Pet } from "../pets.schemas.ts";
import { compilePetReader, type ImportedPet, isFaulty } from "../several/pet-imports.ts";
import { FAULTS_OF_A_PET } from "../several/several-pets.operations.ts";

export const formats = ["jsonl", "csv"] as const;
/** JSON Lines (one animal per line, in UTF-8) or CSV (RFC 4180, with a header). */
export type Format = (typeof formats)[number];

export const idRules = ["keep", "new"] as const;
/** Whether ids in a file are kept or replaced by new ones. */
export type IdRule = (typeof idRules)[number];

/** The largest id that an import keeps. Half of the range remains for new ids. */
const LARGEST_KEPT_ID = 2n ** 62n;
/** The maximum number of characters shown of an unknown column name. */
const MAX_NAME = 64;

/** An animal of a file, and the number of its first line. */
export interface FilePet {
  readonly line: number;
  readonly pet: ImportedPet;
}

/** The result of reading some lines of a file. */
export interface FilePart {
  readonly pets: readonly FilePet[];
  readonly faults: readonly LineFault[];
}

/** The ids of categories by the `nameKey` of each, for CSV files. */
export type CategoryIds = ReadonlyMap<string, bigint>;

/** What a CSV file may leave to the shop. */
export interface CsvContext {
  readonly categories: CategoryIds;
  /** The currency of prices without one. */
  readonly currency: string | undefined;
}
const noContext: CsvContext = { categories: new Map(), currency: undefined };

/** The column that has the name or the id of a category, in place of `categoryId`. */
const CATEGORY = "category";
/** The column with the currency of the price, whose own column has a decimal. */
const CURRENCY = "currency";

/** Reads an animal from a value of a file, or returns its fault. */
type Reader = (value: unknown, line: number) => FilePet | LineFault;

/**
 * Reads animals. The rules and error messages are those of `createPet`. Without `ids`, an id in the file is a
 * fault. Throws `UnreadableRest`.
 */
export function parsePets(
  format: Format,
  ids: IdRule | undefined,
  source: AsyncIterable<Lines>,
  context: CsvContext = noContext,
) {
  return format === "csv" ? readCsvPets(ids, source, context) : readJsonPets(ids, source);
}

async function* readJsonPets(ids: IdRule | undefined, source: AsyncIterable<Lines>): AsyncGenerator<FilePart> {
  const read = compileReader(ids);
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const { bytes, first, faults } of source) {
    const broken = new Set(faults.map(({ line }) => line));
    const results: (FilePet | LineFault)[] = [...faults];
    for (const [index, text] of utf8.decode(bytes).split("\n").entries()) {
      if (!broken.has(first + index) && text.trim() !== "") results.push(readLine(read, text, first + index));
    }
    yield toPart(results);
  }
}

function readLine(read: Reader, text: string, line: number): FilePet | LineFault {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return { line, message: error instanceof RangeError ? "is nested too deeply" : "is not valid JSON" };
  }
  return read(value, line);
}

async function* readCsvPets(
  ids: IdRule | undefined,
  source: AsyncIterable<Lines>,
  { categories, currency }: CsvContext,
): AsyncGenerator<FilePart> {
  const { CsvReader } = await import("../../../../csv/reader.ts"); // here, because few processes read a CSV file
  const read = compileReader(ids);
  const schema = schemaOf(ids);
  const texts = compileTextReaders(schema);
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  const file = new CsvReader();
  let header: readonly string[] | undefined;
  const toPet = ({ fields, line }: CsvRecord, names: readonly string[]): FilePet | LineFault => {
    if (fields.length !== names.length)
      return { line, message: `has ${count(fields.length, "field")} where the header has ${names.length}` };
    const value: Record<string, unknown> = {};
    const code = textOfField(fields[names.indexOf(CURRENCY)] ?? "") || currency;
    for (const [index, name] of names.entries()) {
      const text = textOfField(fields[index] as string);
      if (name === "price" && text !== "") {
        if (code === undefined) return { line, message: `${currencyFault.path} ${currencyFault.message}` };
        const amount = amountIn(text, code);
        if (amount === undefined)
          return { line, message: `/price must be an amount such as 129.00; got ${shown(text)}` };
        value["price"] = { amount, currency: code };
      } else if (name === "price" || name === CURRENCY) continue;
      else if (name === CATEGORY) {
        value["categoryId"] = categories.get(nameKey(text)) ?? parseInt64(text);
        if (value["categoryId"] === undefined)
          return { line, message: `No category is called ${JSON.stringify(text)}` };
      } else if (text !== "" || schema.required.includes(name as never)) value[name] = texts.get(name)?.(text); // an empty optional field counts as absent
    }
    return read(value, line);
  };
  const take = (piece: string | undefined, lineFaults: readonly LineFault[]) => {
    const { records, fault } = file.read(piece);
    const results: (FilePet | LineFault)[] = [...lineFaults];
    for (const record of records) {
      if (header) results.push(toPet(record, header));
      else checkHeader(record, Object.keys(schema.properties), schema.required, ids);
      header ??= record.fields;
    }
    return { part: toPart(results), fault };
  };
  async function* pieces() {
    for await (const { bytes, faults } of source) yield take(utf8.decode(bytes), faults);
    yield take(undefined, []);
  }
  for await (const { part, fault } of pieces()) {
    yield part;
    if (fault) throw new UnreadableRest(fault.line, fault.message);
  }
  if (!header) yield toPart([{ line: 1, message: "is missing: a CSV file begins with the names of its columns" }]);
}

/** Throws `UnreadableRest` if the header is invalid. */
function checkHeader(
  { fields, line }: CsvRecord,
  fieldNames: readonly string[],
  required: readonly string[],
  ids: IdRule | undefined,
): void {
  const known = [...fieldNames, CURRENCY, CATEGORY];
  const unknown = fields.find((name) => !known.includes(name));
  if (unknown === "id" && !ids) throw new UnreadableRest(line, `/id ${idFault.message}`);
  if (unknown !== undefined) {
    throw new UnreadableRest(
      line,
      `has the unknown column ${JSON.stringify(unknown.slice(0, MAX_NAME))}; known columns are ${known.join(", ")}`,
    );
  }
  const given = fields.map((name) => (name === CATEGORY ? "categoryId" : name));
  const missing = required.filter((name) => !given.includes(name));
  if (missing.length > 0) {
    throw new UnreadableRest(line, `lacks the column${missing.length > 1 ? "s" : ""} ${missing.join(", ")}`);
  }
  const twice = given.find((name, index) => given.indexOf(name) < index);
  if (twice !== undefined) throw new UnreadableRest(line, `has the column ${twice} twice`);
}

/** The fault of an id if it is not known whether ids are kept. */
const idFault = { path: "/id", message: "needs --ids keep to be kept, or --ids new to be replaced by a new id" };

/** The schema of an animal in a file. */
function schemaOf(ids: IdRule | undefined) {
  const { id } = Pet.properties;
  if (!ids) return NewPet;
  const properties = { id: ids === "keep" ? id : Type.Optional(id), ...NewPet.properties };
  return Type.Object(properties, { additionalProperties: false }) as unknown as typeof NewPet;
}

function compileReader(ids: IdRule | undefined): Reader {
  const readPet = compilePetReader(schemaOf(ids));
  let lastId = 0n;
  return (value, line) => {
    const read = readPet(value);
    if (isFaulty(read))
      return { line, message: describe(read.map((fault) => (!ids && fault.path === "/id" ? idFault : fault))) };
    const { id, ...pet } = read;
    if (ids !== "keep" || id === undefined) return { line, pet };
    if (id < 1n || id > LARGEST_KEPT_ID) return { line, message: `/id must be from 1 to ${LARGEST_KEPT_ID}` };
    if (id <= lastId) return { line, message: `/id ${id} is not above ${lastId}, the id of an earlier line` };
    lastId = id;
    return { line, pet: { id, ...pet } };
  };
}

function describe(faults: readonly { path: string; message: string }[]): string {
  const told = faults.slice(0, FAULTS_OF_A_PET).map(({ path, message }) => `${path} ${message}`.trim());
  const more = faults.length - told.length;
  return `${told.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

function toPart(results: readonly (FilePet | LineFault)[]): FilePart {
  const pets: FilePet[] = [];
  const faults: LineFault[] = [];
  for (const result of results) {
    if ("pet" in result) pets.push(result);
    else faults.push(result);
  }
  return { pets, faults };
}

/** The text before the first animal in a file of this format. */
export function fileHead(format: Format): string {
  return format === "csv" ? BYTE_ORDER_MARK + csvLine(columns) : "";
}

/** Returns a function that writes animals as lines of a file. An absent status stays absent. */
export function petWriter(format: Format): (pets: readonly Pet[]) => string {
  if (format === "jsonl") return (pets) => pets.map((pet) => `${serialize(pet)}\n`).join("");
  return (pets) => pets.map((pet) => csvLine(fields.flatMap((name) => textsOf(pet, name)))).join("");
}

/** A field of an animal in a CSV file. Pairs are written as JSON, because a field is one text. */
function textsOf(pet: Pet, field: keyof Pet) {
  const { price, metadata } = pet;
  if (field === "price") return price ? [decimalOf(price.amount, price.currency), price.currency] : ["", ""];
  return field === "metadata" ? metadata && JSON.stringify(metadata) : pet[field];
}

const fields = Object.keys(Pet.properties) as (keyof Pet)[];
const columns = fields.flatMap((name) => (name === "price" ? [name, CURRENCY] : [name]));
const serialize = compileSerializer(Pet);
