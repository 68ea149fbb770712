import { type TObject, type TSchema, Type } from "typebox";
import { isInt64, LOCAL_DESCRIPTION } from "../../src/contract/schemas.ts";

/** The keywords of a schema that say what TypeScript can say too. */
interface Shape {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly TSchema[];
  readonly oneOf?: readonly TObject[];
  readonly not?: unknown;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | TSchema;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly maximum?: number;
}

/** Which way the values go: to the service, or to the client. */
export type Direction = "input" | "output";

/** True for an integer that a JavaScript number may round: one that may be beyond 2^53. */
function needsBigint(schema: TSchema): boolean {
  return isInt64(schema) && ((schema as Shape).maximum ?? Number.POSITIVE_INFINITY) > Number.MAX_SAFE_INTEGER;
}

/** Collects the types of a TypeScript client: schemas with a title become interfaces and named types. */
export class ClientTypes {
  readonly #declarations = new Map<string, string>();
  /** Names of the types that hold bigints of responses, and so have a type parameter. */
  readonly #generic = new Set<string>();
  readonly #fields = { bigint: new Set<string>(), number: new Set<string>() };

  /** The variants of `OneOf`, by title, with the fields of all others. */
  readonly #variants = new Map<string | undefined, TSchema>();

  get declarations(): string[] {
    return [...this.#declarations.values()];
  }

  /** Matches the names of the response fields that are bigints. Throws if a field of another number type matches. */
  get bigintFields(): RegExp {
    const others = [...this.#fields.bigint].filter((name) => !name.endsWith("Id")).toSorted();
    const pattern = new RegExp(`^(${others.join("|")})$|Id$`);
    const wrong = [...this.#fields.number].find((name) => pattern.test(name));
    if (wrong) throw new TypeError(`The field ${wrong} has the name of an int64, but another type.`);
    return pattern;
  }

  /** The TypeScript type of a schema. Integers beyond 2^53 are `Id` in responses and `Int64` in requests. */
  of(schema: TSchema, direction: Direction, name?: string): string {
    const shape = schema as Shape;
    if (shape.title === undefined) return this.#inline(schema, direction, name);
    const type = this.#named(shape.title, schema, direction);
    return this.#generic.has(shape.title) ? `${type}<Id>` : type;
  }

  #named(title: string, schema: TSchema, direction: Direction): string {
    const { description, type } = schema as Shape;
    const body = this.#inline(this.#variants.get(title) ?? schema, direction);
    const isGeneric = /\bId\b/.test(body.replaceAll(/\/\*\*.*?\*\//gs, "")); // comments may name X-Request-Id
    if (isGeneric) this.#generic.add(title);
    const head = `${title}${isGeneric ? "<Id = bigint>" : ""}`;
    const declaration =
      type === "object" && body.startsWith("{") ? `export interface ${head} ${body}` : `export type ${head} = ${body};`;
    const text = `${comment([description ?? ""])}${declaration}`;
    const known = this.#declarations.get(title);
    if (known !== undefined && known !== text) throw new TypeError(`Two types of the client are called ${title}.`);
    this.#declarations.set(title, text);
    return title;
  }

  #inline(schema: TSchema, direction: Direction, name?: string): string {
    const shape = schema as Shape;
    if (shape.enum) return shape.enum.map((value) => JSON.stringify(value)).join(" | ");
    if (shape.const !== undefined) return JSON.stringify(shape.const);
    if (shape.oneOf) {
      for (const variant of alike(shape.oneOf)) this.#variants.set((variant as Shape).title, variant);
      return shape.oneOf.map((part) => this.of(part, direction, name)).join(" | ");
    }
    if (shape.anyOf) return shape.anyOf.map((part) => this.of(part, direction, name)).join(" | ");
    if (Array.isArray(shape.type)) {
      const { additionalProperties, ...rest } = schema as Shape;
      const parts = shape.type.map((type: string) => ({
        ...rest,
        ...(type === "object" && { additionalProperties }),
        type,
      }));
      return parts.map((part) => this.#inline(part as TSchema, direction, name)).join(" | ");
    }
    switch (shape.type) {
      case "integer":
      case "number":
        return this.#number(schema, direction, name);
      case "string":
      case "boolean":
      case "null":
        return shape.type;
      case "array":
        return `readonly ${grouped(this.of(shape.items as TSchema, direction, name))}[]`;
      case "object":
        return this.#object(shape, direction);
      case undefined:
        return "unknown";
      default:
        throw new TypeError(`The client has no type for ${JSON.stringify(schema)}.`);
    }
  }

  #number(schema: TSchema, direction: Direction, name: string | undefined): string {
    const isBigint = needsBigint(schema);
    if (direction === "input") return isInt64(schema) ? "Int64" : "number";
    if (name !== undefined) this.#fields[isBigint ? "bigint" : "number"].add(name);
    return isBigint ? "Id" : "number";
  }

  #object(
    { properties = {}, required = [], additionalProperties, patternProperties }: Shape,
    direction: Direction,
  ): string {
    const values = [
      ...Object.values(patternProperties ?? {}),
      ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
    ];
    if (additionalProperties === true) return "{ readonly [name: string]: unknown }";
    const [value] = values;
    if (value && Object.keys(properties).length === 0)
      return `{ readonly [name: string]: ${this.of(value, direction)} }`;
    const fields = Object.entries(properties).map(([name, property]) => {
      const {
        description,
        title,
        [LOCAL_DESCRIPTION]: localDescription,
      } = property as Shape & { readonly [LOCAL_DESCRIPTION]?: string };
      const isRequired = required.includes(name) && !(direction === "input" && "default" in property);
      // What may be left out may be undefined too, so that callers need not build objects piece by piece.
      const [mark, rest] = isRequired ? ["", ""] : ["?", " | undefined"];
      const doc = comment([localDescription ?? (title === undefined ? (description ?? "") : "")]); // a named type has its own
      const type = (property as Shape).not ? "undefined" : this.of(property, direction, name) + rest;
      return `${doc}readonly ${name}${mark}: ${type};\n`;
    });
    return fields.length === 0 ? "{}" : `{\n${fields.join("")}}`;
  }
}

/** Variants that all have the same fields, so that programs can read each before they know the variant. */
function alike(variants: readonly TObject[]): TSchema[] {
  const names = new Set(variants.flatMap(({ properties }) => Object.keys(properties)));
  const all = Object.fromEntries([...names].map((name) => [name, Type.Optional(Type.Never())]));
  return variants.map((variant) => ({ ...variant, properties: { ...all, ...variant.properties } }));
}

/** The type in parentheses if it is more than a name. */
function grouped(type: string): string {
  return /^[\w<>]+$/.test(type) ? type : `(${type})`;
}

/** A doc comment of these paragraphs; empty if there are none. */
export function comment(paragraphs: readonly string[]): string {
  const text = paragraphs.filter(Boolean).join("\n\n").replaceAll("*/", "*\\/");
  if (text === "") return "";
  const lines = text.split("\n");
  return lines.length === 1
    ? `/** ${text} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`;
}
