import { type Category, type NewPet, stringify } from "petstore-client";
import { createPetBody } from "../generated/contract.ts";
import { faultOf, valueOf } from "../ui/form/values.ts";
import { countOf, numberOf } from "../ui/words.ts";
import { MAX_NAMED } from "./categories.ts";
import { CsvError, readCsv } from "./csv.ts";

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

interface FileAnimal {
  readonly line: number;
  readonly body: NewPet;
  /** Its content, and how many of this content there are up to it: the same in a file with other lines before it. */
  readonly id: string;
}

export interface FileAnimals {
  readonly animals: readonly FileAnimal[];
  readonly faults: readonly LineFault[];
}

/** Reads animals from a CSV file and checks them by the limits of the contract. Nothing is added while there are faults. */
export function readAnimals(text: string, categories: Iterable<Category>): FileAnimals {
  const animals: FileAnimal[] = [];
  const counts = new Map<string, number>();
  const faults: LineFault[] = [];
  const idOf = new Map([...categories].map(({ id, name }) => [name, String(id)]));
  try {
    const [header, ...records] = readCsv(text);
    const names = header?.fields.map((name) => name.trim()) ?? [];
    faults.push(...faultsOfHeader(names));
    if (faults.length > 0) return { animals, faults };
    for (const { line, fields } of records) {
      const { body, messages } = readAnimal(names, fields, idOf);
      faults.push(...messages.map((message) => ({ line, message })));
      const content = stringify(body);
      const count = (counts.get(content) ?? 0) + 1;
      counts.set(content, count);
      animals.push({ line, body, id: content + count });
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    faults.push(error);
  }
  return { animals, faults };
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

function readAnimal(names: readonly string[], fields: readonly string[], idOf: ReadonlyMap<string, string>) {
  const texts = new Map(names.map((name, index) => [name, fields[index] ?? ""]));
  const messages: string[] = [];
  if (fields.length !== names.length)
    messages.push(`It has ${countOf(fields.length, "field")}, but there are ${names.length} columns.`);
  if (fields.join("").includes("\uFFFD")) messages.push("Save the file as CSV UTF-8.");
  const category = texts.get(CATEGORY);
  if (category) {
    if (!idOf.has(category)) {
      const fault = `is called "${category}".`;
      const read = `None of the first ${numberOf(MAX_NAMED)} categories`;
      messages.push(idOf.size < MAX_NAMED ? `No category ${fault}` : `${read} ${fault} Use categoryId.`);
    }
    texts.set("categoryId", idOf.get(category) ?? "0");
  }
  const values = columns.map((field) => {
    const text = texts.get(field.name) ?? "";
    const isUnknown = field.choices && text !== "" && !field.choices.includes(text);
    const fault = isUnknown ? `Use ${field.choices?.join(", ")}.` : faultOf(field, text);
    if (fault) messages.push(`${field.label}: ${fault}`);
    return [field.name, fault ? undefined : valueOf(field, text)] as const;
  });
  const metadata = texts.get(METADATA);
  if (!metadata) return { body: Object.fromEntries(values) as unknown as NewPet, messages };
  const pairs = pairsIn(metadata);
  if (!pairs) messages.push("Metadata: Use a JSON object of texts.");
  return { body: { ...Object.fromEntries(values), metadata: pairs } as unknown as NewPet, messages };
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
