import type { Category, NewPet } from "petstore-client";
import { encodingOf } from "../../../csv/encoding.ts";
import { nameKey } from "../../../csv/name-key.ts";
import { CsvReader } from "../../../csv/reader.ts";
import { textOfField } from "../../../csv/writer.ts";
import { MAX_NAMED } from "../categories/categories.ts";
import { createPetBody } from "../generated/contract.ts";
import { faultOf, valueOf } from "../ui/form/values.ts";
import { countOf, numberOf } from "../ui/words.ts";

/** A column with the name of the category instead of its id. */
const CATEGORY = "category";
/** A column with the metadata as JSON. */
const METADATA = "metadata";
const columns = createPetBody.filter(({ name }) => name !== METADATA);
/** A column of exported files that a new animal does not have: the service assigns ids. */
const IGNORED: ReadonlySet<string> = new Set(["id"]);

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
}

/** The categories that a file may name, as the service compares names. */
interface KnownCategories {
  readonly byName: ReadonlyMap<string, bigint>;
  readonly byId: ReadonlyMap<bigint, Category>;
  /** False if there may be more. */
  readonly isAll: boolean;
}

/** Reads animals from a CSV file and checks them by the limits of the contract. */
export function readAnimals(bytes: Uint8Array, byId: ReadonlyMap<bigint, Category>): FileAnimals {
  const animals: FileAnimal[] = [];
  const faults: LineFault[] = [];
  const [unknown, unknownIds] = [new Map<string, string>(), new Set<bigint>()];
  const byName = new Map([...byId.values()].map(({ id, name }) => [nameKey(name), id]));
  const categories: KnownCategories = { byName, byId, isAll: byId.size < MAX_NAMED };
  const file = new CsvReader();
  const parts = [file.read(new TextDecoder(encodingOf(bytes)).decode(bytes)), file.read()];
  const [header, ...records] = parts.flatMap((part) => part.records);
  const names = header?.fields.map((name) => name.trim()) ?? [];
  const headerFaults = faultsOfHeader(names);
  for (const { line, fields } of headerFaults.length > 0 ? [] : records) {
    const { body, messages, unknownName } = readAnimal(names, fields.map(textOfField), categories);
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
  };
}

function faultsOfHeader(names: readonly string[]): LineFault[] {
  const known = [...columns.map(({ name }) => name), CATEGORY, METADATA, ...IGNORED];
  const given = names.map((name) => (name === CATEGORY ? "categoryId" : name));
  const missing = columns.filter(({ name, isRequired }) => isRequired && !given.includes(name));
  const repeated = given.filter((name, index) => given.indexOf(name) < index);
  const unknown = names.filter((name) => !known.includes(name));
  return [
    ...missing.map(({ name }) => `The column ${name} is missing.`),
    ...repeated.map((name) => `Two columns hold the ${name}.`),
    ...unknown.map((name) => `The column "${name}" is not known. Known columns: ${known.join(", ")}.`),
  ].map((message) => ({ line: 1, message }));
}

function readAnimal(names: readonly string[], fields: readonly string[], { byName, isAll }: KnownCategories) {
  const texts = new Map(names.map((name, index) => [name, fields[index] ?? ""]));
  const messages: string[] = [];
  if (fields.length !== names.length)
    messages.push(`It has ${countOf(fields.length, "field")}, but there are ${names.length} columns.`);
  if (fields.join("").includes("\uFFFD")) messages.push("Save the file as CSV UTF-8.");
  const category = texts.get(CATEGORY);
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
  const values = columns.map((field) => {
    const text = texts.get(field.name) ?? "";
    const isUnknown = field.choices && text !== "" && !field.choices.includes(text);
    const fault = isUnknown ? `Use ${field.choices?.join(", ")}.` : faultOf(field, text);
    if (fault) messages.push(`${field.label}: ${fault}`);
    return [field.name, fault ? undefined : valueOf(field, text)] as const;
  });
  const metadata = texts.get(METADATA);
  if (!metadata) return { body: Object.fromEntries(values) as unknown as NewPet, messages, unknownName };
  const pairs = pairsIn(metadata);
  if (!pairs) messages.push("Metadata: Use a JSON object of texts.");
  return { body: { ...Object.fromEntries(values), metadata: pairs } as unknown as NewPet, messages, unknownName };
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
