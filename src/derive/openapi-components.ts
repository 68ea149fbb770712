import { isDeepStrictEqual } from "node:util";
import type { TObject } from "typebox";
import { LOCAL_DESCRIPTION, MEANING, PATTERN_MEANING, RULES, SECRET, UNCHECKED_ITEMS } from "../contract/schemas.ts";

export type Json = Record<string, unknown>;
type Kind = "schemas" | "parameters" | "responses" | "links" | "examples";

/** Keywords for the service itself. */
const internal: ReadonlySet<string> = new Set([
  LOCAL_DESCRIPTION,
  MEANING,
  PATTERN_MEANING,
  RULES,
  SECRET,
  UNCHECKED_ITEMS,
]);

/** Keywords that only request schemas have. A response has an example of the whole body. */
const ofInput: ReadonlySet<string> = new Set(["pattern", "examples"]);

/** Which way a schema's values go: to the service, or to the client. */
type Direction = "input" | "output";

/** Collects the components of the document, apart from headers. */
export class Components {
  readonly #parts = new Map<Kind, Record<string, unknown>>();

  /** All parts, by kind and name; kinds without a part are left out. */
  get all(): Json {
    return Object.fromEntries(this.#parts);
  }

  /** Adds a component if it is new and returns a reference. Throws if another component has the name. */
  add(kind: Kind, name: string, part: unknown): { $ref: string } {
    const parts = this.#parts.getOrInsertComputed(kind, () => ({}));
    if (!isDeepStrictEqual((parts[name] ??= part), part)) throw new TypeError(`Two ${kind} are called ${name}.`);
    return { $ref: `#/components/${kind}/${name}` };
  }

  /**
   * A schema of the contract as the document shows it: one with a title becomes a component. A pattern is
   * a rule for clients only, so schemas of responses have none: a client's validator, made from one, must
   * not fail on what an older release accepted.
   */
  schema(schema: unknown, direction: Direction): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.schema(part, direction));
    if (typeof schema !== "object" || schema === null) return schema;
    const { title, [LOCAL_DESCRIPTION]: localDescription } = schema as Json;
    const hasTitle = typeof title === "string"; // a field may have this name
    const isShown = (key: string) =>
      !internal.has(key) && !(hasTitle && key === "title") && (direction === "input" || !ofInput.has(key));
    const shown = Object.entries(schema).filter(([key]) => isShown(key));
    const parts: Json = Object.fromEntries(shown.map(([key, part]) => [key, this.schema(part, direction)]));
    if (parts["oneOf"]) parts["discriminator"] = discriminatorOf(schema as OneOfKeywords);
    if (!hasTitle) return parts;
    const reference = this.add("schemas", title, parts);
    return localDescription === undefined ? reference : { ...reference, description: localDescription };
  }
}

/** The keywords of `OneOf`. */
interface OneOfKeywords {
  readonly oneOf: readonly TObject[];
  readonly discriminator: { readonly propertyName: string };
}

/** Says which component each value of the field stands for. Without that, it would be the component of that name. */
function discriminatorOf({ oneOf, discriminator: { propertyName } }: OneOfKeywords): Json {
  const mapping = oneOf.map((variant) => {
    const { const: value } = variant.properties[propertyName] as { const?: string };
    return [value, `#/components/schemas/${(variant as { title?: string }).title}`];
  });
  return { propertyName, mapping: Object.fromEntries(mapping) };
}
