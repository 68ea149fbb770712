/** What is checked of a body: the keywords of its schema in the document, without formats and patterns. */
export interface BodySchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly additionalProperties?: boolean | BodySchema;
  readonly items?: BodySchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A fault of a body, as the service reports it. */
interface Fault {
  readonly path: string;
  readonly message: string;
}

/** The faults of a parsed body. The words differ from those of the service. */
export function* bodyFaults(value: unknown, schema: BodySchema, path = "/body"): Generator<Fault> {
  const fault = (message: string, at = path): Fault => ({ path: at, message });
  const {
    type = [],
    enum: values,
    properties = {},
    additionalProperties: others = true,
    required = [],
    items,
  } = schema;
  const types = [type].flat();
  const isOfType =
    types.length === 0 ||
    types.some((one) => one === typeOf(value) || (one === "number" && typeOf(value) === "integer"));
  if (!isOfType) yield fault(`must be of the type ${types.join(" or ")}`);
  else if (values && !values.includes(value)) yield fault(`must be one of ${values.join(", ")}`);
  else if (!isWithin(value, schema)) yield fault("must be within the limits of the documentation");
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* bodyFaults(item, items ?? {}, `${path}/${index}`);
  } else if (typeof value === "object" && value !== null) {
    for (const name of required) if (!Object.hasOwn(value, name)) yield fault("is required", `${path}/${name}`);
    for (const [name, inner] of Object.entries(value)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : others;
      if (known === false) yield fault("is not a field of this operation", `${path}/${name}`);
      else if (typeof known === "object") yield* bodyFaults(inner, known, `${path}/${name}`);
    }
  }
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "bigint" || Number.isInteger(value) ? "integer" : typeof value;
}

function isWithin(value: unknown, schema: BodySchema): boolean {
  if (typeof value === "number" || typeof value === "bigint") {
    return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
  }
  if (typeof value !== "string" && !Array.isArray(value)) return true;
  const size = Array.from(value).length; // in code points
  return (
    size >= (schema.minLength ?? schema.minItems ?? 0) && size <= (schema.maxLength ?? schema.maxItems ?? Infinity)
  );
}
