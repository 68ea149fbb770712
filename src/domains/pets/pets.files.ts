import { Type } from "typebox";
import { faultsOf } from "../../contract/input-faults.ts";
import { count } from "../../contract/messages.ts";
import { parseJson } from "../../contract/parse-json.ts";
import { compileSerializer } from "../../contract/serialize.ts";
import { compileDecoder, compileTextReaders, compileValidator } from "../../contract/validators.ts";
import { type CsvRecord, csvLine, readCsv } from "../../files/csv.ts";
import { type LineFault, type Lines, UnreadableRest } from "../../files/lines.ts";
import { NewPet, Pet } from "./pets.schemas.ts";
import type { ImportedPet } from "./pets.store.ts";

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
/** The maximum number of faults reported for one line. */
const FAULTS_OF_A_LINE = 3;

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

/** Reads an animal from a value of a file, or returns its fault. */
type Reader = (value: unknown, line: number) => FilePet | LineFault;

/**
 * Reads animals. The rules and error messages are those of `createPet`. Without `ids`, an id in the file is a
 * fault. Throws `UnreadableRest`.
 */
export function readPets(format: Format, ids: IdRule | undefined, source: AsyncIterable<Lines>) {
  return format === "csv" ? readCsvPets(ids, source) : readJsonPets(ids, source);
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

async function* readCsvPets(ids: IdRule | undefined, source: AsyncIterable<Lines>): AsyncGenerator<FilePart> {
  const read = compileReader(ids);
  const schema = schemaOf(ids);
  const texts = compileTextReaders(schema);
  let header: CsvRecord | undefined;
  const toValue = (fields: readonly string[], names: readonly string[]) => {
    const value: Record<string, unknown> = {};
    for (const [index, name] of names.entries()) {
      const text = fields[index] ?? "";
      // An empty optional field counts as absent.
      if (text !== "" || schema.required.includes(name as never)) value[name] = texts.get(name)?.(text);
    }
    return value;
  };
  for await (const { records, faults } of readCsv(source)) {
    const results: (FilePet | LineFault)[] = [...faults];
    for (const record of records) {
      if (!header) {
        header = record;
        checkHeader(record, Object.keys(schema.properties), schema.required, ids);
      } else if (record.fields.length === header.fields.length) {
        results.push(read(toValue(record.fields, header.fields), record.line));
      } else {
        const message = `has ${count(record.fields.length, "field")} where the header has ${header.fields.length}`;
        results.push({ line: record.line, message });
      }
    }
    yield toPart(results);
  }
  if (!header) yield toPart([{ line: 1, message: "is missing: a CSV file begins with the names of its columns" }]);
}

/** Throws `UnreadableRest` if the header is invalid. */
function checkHeader(
  { fields, line }: CsvRecord,
  known: readonly string[],
  required: readonly string[],
  ids: IdRule | undefined,
): void {
  const unknown = fields.find((name) => !known.includes(name));
  if (unknown === "id" && !ids) throw new UnreadableRest(line, `/id ${idFault.message}`);
  if (unknown !== undefined) {
    throw new UnreadableRest(
      line,
      `has the unknown column ${JSON.stringify(unknown.slice(0, MAX_NAME))}; known columns are ${known.join(", ")}`,
    );
  }
  const missing = required.filter((name) => !fields.includes(name));
  if (missing.length > 0) {
    throw new UnreadableRest(line, `lacks the column${missing.length > 1 ? "s" : ""} ${missing.join(", ")}`);
  }
  const twice = fields.find((name, index) => fields.indexOf(name) < index);
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
  const schema = schemaOf(ids);
  const validator = compileValidator(schema);
  const decode = compileDecoder(schema) ?? ((value: unknown) => value);
  let lastId = 0n;
  return (value, line) => {
    if (!validator.Check(value)) {
      const faults = faultsOf(value, schema, "", "field of an animal");
      return { line, message: describe(faults.map((fault) => (!ids && fault.path === "/id" ? idFault : fault))) };
    }
    const { id, ...pet } = decode(value) as FilePet["pet"];
    if (ids !== "keep" || id === undefined) return { line, pet };
    if (id < 1n || id > LARGEST_KEPT_ID) return { line, message: `/id must be from 1 to ${LARGEST_KEPT_ID}` };
    if (id <= lastId) return { line, message: `/id ${id} is not above ${lastId}, the id of an earlier line` };
    lastId = id;
    return { line, pet: { id, ...pet } };
  };
}

function describe(faults: readonly { path: string; message: string }[]): string {
  const shown = faults.slice(0, FAULTS_OF_A_LINE).map(({ path, message }) => `${path} ${message}`.trim());
  const more = faults.length - shown.length;
  return `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
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
  return format === "csv" ? csvLine(columns) : "";
}

/** Returns a function that writes animals as lines of a file. An absent status stays absent. */
export function petWriter(format: Format): (pets: readonly Pet[]) => string {
  if (format === "jsonl") return (pets) => pets.map((pet) => `${serialize(pet)}\n`).join("");
  return (pets) => pets.map((pet) => csvLine(columns.map((name) => textOf(pet[name])))).join("");
}

/** A field of a CSV file. Pairs are written as JSON, because a field is one text. */
function textOf(value: Pet[keyof Pet]): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value ?? "");
}

const columns = Object.keys(Pet.properties) as (keyof Pet)[];
const serialize = compileSerializer(Pet);
