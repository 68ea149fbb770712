// Says which input is valid by reading the published document with another validator, so that the
// service is not its own judge.
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import type { Operation } from "../../src/contract/operation.ts";
import { newSchemaCheck } from "../harness/schema-check.ts";
import { isInt64Text } from "./hostile-texts.ts";

interface DocumentedSchema {
  readonly type?: string;
  readonly items?: DocumentedSchema;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly examples?: { readonly example?: { readonly value: unknown } };
  readonly schema: DocumentedSchema;
}

interface QueryParameter {
  readonly isRequired: boolean;
  readonly schema: DocumentedSchema;
  readonly sample: string;
  readonly validate: ValidateFunction;
}

interface DocumentedOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> };
}

interface Document {
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
  readonly components: object;
}

/** A validator for each document, because making one takes long. */
const validators = new WeakMap<Document, Ajv2020>();

function validatorOf(document: Document): Ajv2020 {
  const known = validators.get(document);
  if (known) return known;
  const ajv = newSchemaCheck();
  ajv.addFormat("uri", true); // the service refuses more
  ajv.addSchema({ $id: "document", components: document.components });
  validators.set(document, ajv);
  return ajv;
}

/** Judges the input of one operation. */
export class Oracle {
  readonly #ajv: Ajv2020;
  readonly #body: ValidateFunction | undefined;
  readonly #parameters: ReadonlyMap<string, QueryParameter>;
  readonly #isPaged: boolean;

  constructor(document: unknown, operation: Operation) {
    const documented = (document as Document).paths[operation.path]?.[operation.method.toLowerCase()];
    if (!documented) throw new Error(`The document has no ${operation.name}.`);
    this.#ajv = validatorOf(document as Document);
    const schema = documented.requestBody?.content["application/json"]?.schema;
    this.#body = schema && this.#compile(schema);
    const parameters = (documented.parameters ?? []).filter((parameter) => parameter.in === "query");
    this.#parameters = new Map(
      parameters.map(({ name, required = false, example, examples, schema: parameter }) => [
        name,
        {
          isRequired: required,
          schema: parameter,
          sample: name === "cursor" ? "" : String(example ?? examples?.example?.value),
          validate: this.#compile(parameter),
        },
      ]),
    );
    this.#isPaged = operation.paged !== undefined;
  }

  get parameterNames(): string[] {
    return [...this.#parameters.keys()];
  }

  /** True for a parameter whose items may come in several parameters of its name. */
  isList(name: string): boolean {
    return this.#parameters.get(name)?.schema.items !== undefined;
  }

  /** A parameter with the value of its example. */
  sampleOf(name: string): string {
    return `${name}=${encodeURIComponent(this.#parameters.get(name)?.sample ?? "")}`;
  }

  /** True if the bytes are a valid body. Not for integers beyond 2^53, which it would round. */
  takesBody(bytes: Uint8Array): boolean {
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      const value: unknown = JSON.parse(text);
      // Patterns cannot say that unpaired surrogates, U+2028 and U+2029 are refused. `stringify` escapes nothing else as \ud….
      const isText = !/(?<!\\)(?:\\\\)*\\ud|[\u2028\u2029]/.test(JSON.stringify(value));
      return isText && (this.#body?.(value) ?? true);
    } catch {
      return false;
    }
  }

  /** True if the text after the `?` is a valid query. No text but the empty one is taken for the cursor of a page. */
  takesQuery(query: string): boolean {
    const given = new Map<string, string>();
    for (const pair of query.split("&").filter(Boolean)) {
      const [name = "", ...rest] = pair.split("=");
      const [key, text] = [decode(name), decode(rest.join("="))];
      if (key === undefined || text === undefined) return false;
      const before = given.get(key);
      if (before !== undefined && !this.isList(key)) return false;
      given.set(key, before === undefined ? text : `${before},${text}`);
    }
    if (this.#isPaged && given.get("cursor")) return false;
    return (
      given.keys().every((name) => this.#parameters.has(name)) &&
      this.#parameters.entries().every(([name, { isRequired, schema, validate }]) => {
        const text = given.get(name);
        return text === undefined ? !isRequired : validate(typed(text, schema));
      })
    );
  }

  #compile(schema: object): ValidateFunction {
    const { $ref } = schema as { $ref?: string };
    return this.#ajv.compile($ref ? { $ref: `document${$ref}` } : inDocument(schema));
  }
}

/** A schema whose references lead into the document. */
function inDocument(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')) as object;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/** A number in a query is plain digits, a list is separated by commas; anything else is text. */
function typed(text: string, { type, items }: DocumentedSchema): unknown {
  if (items) return text.split(",").map((item) => typed(item, items));
  return type === "integer" && /^(0|-?[1-9][0-9]*)$/.test(text) && isInt64Text(text) ? Number(text) : text;
}
