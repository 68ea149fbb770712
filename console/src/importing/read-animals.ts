import type { Category, NewPet } from "petstore-client";
import { encodingOf } from "../../../csv/encoding.ts";
import { nameKey } from "../../../csv/name-key.ts";
import { CsvReader } from "../../../csv/reader.ts";
import { textOfField } from "../../../csv/writer.ts";
import { MAX_NAMED } from "../categories/categories.ts";
import { createPetBody } from "../generated/contract.ts";
import { faultOf, valueOf } from "../ui/form/values.ts";
import { priceHint, priceIn } from "../ui/money.ts";
import { countOf, numberOf } from "../ui/words.ts";

/** A column with the name of the category instead of its id. */
const CATEGORY = "category";
/** A column with the metadata as JSON. */
const METADATA = "metadata";
/** Columns with the price, as people write prices, and with its currency. */
const [PRICE, CURRENCY] = ["price", "currency"];
const columns = createPetBody.filter(({ name }) => name !== METADATA && name !== PRICE);
const known = [...columns.map(({ name }) => name), CATEGORY, METADATA, PRICE, CURRENCY];
/** A column of exported files that a new animal does not have: the service assigns ids. */
const IGNORED = "id";
/** The known columns by their names without case, spaces and marks. */
const bare = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
const columnNames = new Map([...known, IGNORED].map((name) => [bare(name), name]));

export interface LineFault {
  readonly line: number;
  readonly message: string;
}

export interface FileAnimal {
  readonly line: number;
  readonly body: NewPet;
}

/** What a file holds. */
export interface FileAnimals {
  /** Those without a fault. */
  readonly animals: readonly FileAnimal[];
  readonly faults: readonly LineFault[];
  /** True if nothing can be read after the last fault. */
  readonly isBroken: boolean;
  /** The categories that do not exist, by their names and by their ids. An animal may refer to such an id. */
  readonly unknownNames: readonly string[];
  readonly unknownIds: ReadonlySet<bigint>;
  /** The columns that are left out, because they are not known. */
  readonly leftOut: readonly string[];
}

/** The categories that a file may name, as the service compares names. */
interface KnownCategories {
  readonly byName: ReadonlyMap<string, bigint>;
  readonly byId: ReadonlyMap<bigint, Category>;
  /** False if there may be more. */
  readonly isAll: boolean;
}

/** The text of a file. What is not UTF-8 is what Excel calls "CSV": the characters of Western Europe. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/**
 * Reads animals from a CSV file and checks them by the limits of the contract. Blank rows and columns say nothing.
 * `currency` is that of prices without one, `status` that of animals if no column has it.
 */
export function readAnimals(
  bytes: Uint8Array,
  byId: ReadonlyMap<bigint, Category>,
  currency: string,
  status: string,
): FileAnimals {
  const animals: FileAnimal[] = [];
  const faults: LineFault[] = [];
  const [unknown, unknownIds] = [new Map<string, string>(), new Set<bigint>()];
  const byName = new Map([...byId.values()].map(({ id, name }) => [nameKey(name), id]));
  const categories: KnownCategories = { byName, byId, isAll: byId.size < MAX_NAMED };
  const file = new CsvReader();
  const parts = [file.read(textOf(bytes)), file.read()];
  const [header, ...records] = parts.flatMap((part) => part.records).filter(({ fields }) => fields.some(isFilled));
  const heads = header?.fields.map((name) => name.trim()) ?? [];
  const names = heads.map((name) => columnNames.get(bare(name)));
  const headerFaults = faultsOfHeader(names);
  for (const { line, fields } of headerFaults.length > 0 ? [] : records) {
    const { body, messages, unknownName } = readAnimal(names, fields.map(textOfField), categories, currency, status);
    faults.push(...messages.map((message) => ({ line, message })));
    const key = nameKey(unknownName ?? "");
    if (unknownName !== undefined) unknown.set(key, unknown.get(key) ?? unknownName);
    if (messages.length > 0) continue;
    animals.push({ line, body });
    const { categoryId } = body as { categoryId: bigint };
    if (categories.isAll && !byId.has(categoryId)) unknownIds.add(categoryId);
  }
  const broken = parts.find(({ fault }) => fault)?.fault;
  if (broken) faults.push({ line: broken.line, message: `The line ${broken.message}.` });
  return {
    animals,
    faults: [...headerFaults, ...faults],
    isBroken: broken !== undefined,
    unknownNames: [...unknown.values()],
    unknownIds,
    leftOut: heads.filter((head, index) => head !== "" && !names[index]),
  };
}

const isFilled = (field: string) => field.trim() !== "";

function faultsOfHeader(names: readonly (string | undefined)[]): LineFault[] {
  const given = names.map((name) => (name === CATEGORY ? "categoryId" : name));
  const missing = columns.filter(({ name, isRequired }) => isRequired && !given.includes(name));
  const repeated = given.filter((name, index) => name && given.indexOf(name) < index);
  return [
    ...missing.map(({ name }) => `The column ${name === "categoryId" ? CATEGORY : name} is missing.`),
    ...repeated.map((name) => `Two columns hold the ${name}.`),
  ].map((message) => ({ line: 1, message }));
}

function readAnimal(
  names: readonly (string | undefined)[],
  fields: readonly string[],
  { byName, isAll }: KnownCategories,
  usual: string,
  status: string,
) {
  const texts = new Map([["status", status], ...names.map((name, index) => [name, fields[index] ?? ""] as const)]);
  const messages: string[] = [];
  if (fields.slice(names.length).some(isFilled))
    messages.push(`It has ${countOf(fields.length, "field")}, but there are ${names.length} columns.`);
  const category = texts.get(CATEGORY)?.trim();
  let unknownName: string | undefined;
  if (category) {
    const id = byName.get(nameKey(category)) ?? (/^-?\d+$/.test(category) ? category : undefined);
    if (id === undefined) {
      const fault = `is called "${category}".`;
      const read = `None of the first ${numberOf(MAX_NAMED)} categories`;
      messages.push(isAll ? `No category ${fault}` : `${read} ${fault} Use categoryId.`);
      if (isAll) unknownName = category;
    }
    texts.set("categoryId", String(id ?? 0));
  }
  const values = columns.map((field): readonly [name: string, value: unknown] => {
    const given = texts.get(field.name) ?? "";
    const text = field.choices?.find((choice) => choice === given.trim().toLowerCase()) ?? given;
    const isUnknown = field.choices && text !== "" && !field.choices.includes(text);
    const fault = isUnknown ? `Use ${field.choices?.join(", ")}.` : faultOf(field, text);
    if (fault) messages.push(`${field.label}: ${fault}`);
    return [field.name, fault ? undefined : valueOf(field, text)];
  });
  const price = priceOf(texts.get(PRICE) ?? "", texts.get(CURRENCY) || usual);
  if (price === null) messages.push(`Price: ${priceHint(texts.get(CURRENCY) || usual)}`);
  const metadata = texts.get(METADATA);
  const pairs = metadata ? pairsIn(metadata) : undefined;
  if (metadata && !pairs) messages.push("Metadata: Use a JSON object of texts.");
  const body = { ...Object.fromEntries(values), ...(price && { price }), ...(pairs && { metadata: pairs }) };
  return { body: body as unknown as NewPet, messages, unknownName };
}

/** The price in a field, perhaps with its currency; undefined if there is none, null if it is wrong. */
function priceOf(text: string, usual: string) {
  if (!isFilled(text)) return undefined;
  const [named] = /\b[A-Z]{3}\b/.exec(text.toUpperCase()) ?? [];
  const currency = named ?? (text.includes("€") ? "EUR" : usual.trim().toUpperCase());
  return priceIn(text.replaceAll(/\b[A-Za-z]{3}\b|[€$£]/g, ""), currency) ?? null;
}

/** The metadata in a column; undefined if it is not an object of texts. The service checks the rest. */
function pairsIn(json: string): object | undefined {
  try {
    const pairs: unknown = JSON.parse(json);
    if (typeof pairs !== "object" || pairs === null || Array.isArray(pairs)) return undefined;
    return Object.values(pairs).every((value) => typeof value === "string") ? pairs : undefined;
  } catch {
    return undefined;
  }
}
