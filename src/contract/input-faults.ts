import type { TSchema } from "typebox";
import { Settings } from "typebox/system";
import { type Fault, MAX_FAULTS } from "./errors.ts";
import { count } from "./messages.ts";
import { PATTERN_MEANING } from "./schemas.ts";
import { suggest } from "./suggest.ts";
import type { compileValidator } from "./validators.ts";

const MAX_NAME = 64;

// The schema library stops at its eighth error by default.
Settings.Set({ maxErrors: MAX_FAULTS });

type Validator = ReturnType<typeof compileValidator>;
type ValidationError = ReturnType<Validator["Errors"]>[1][number];

/**
 * The faults of a value that does not fit its schema, at least one. `base` is the JSON Pointer of the
 * value within the request; `noun` is what a property of it is called (`field of this operation`).
 */
export function faultsOf(validator: Validator, value: unknown, schema: TSchema, base: string, noun: string): Fault[] {
  const [, errors] = validator.Errors(value);
  const faults = errors.flatMap((error) => translate(error, schema, base, noun));
  return faults.length > 0 ? faults : [{ path: base, message: "is not valid" }];
}

function translate(error: ValidationError, schema: TSchema, base: string, noun: string): Fault[] {
  const path = base + pathIn(error);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required":
      return (params["requiredProperties"] as string[]).map((name) => ({
        path: `${path}/${pointerToken(name)}`,
        message: "is required",
      }));
    case "boolean": // the schema of all unknown properties, which rejects every value
      return [unknownProperty(error, schema, base, noun)];
    case "additionalProperties": // sums up faults that are also reported one by one
    case "propertyNames":
      return [];
    case "enum":
      return [{ path, message: `must be one of ${(params["allowedValues"] as unknown[]).join(", ")}` }];
    case "pattern":
      return [{ path, message: `${aboutName(error)}must hold ${patternMeaning(schema, error.schemaPath)}` }];
    case "type":
      return [{ path, message: `must be ${article([params["type"]].flat().join(" or "))}` }];
    case "minLength":
      return [{ path, message: `${aboutName(error)}must have at least ${count(params["limit"], "character")}` }];
    case "maxLength":
      return [{ path, message: `${aboutName(error)}must have at most ${count(params["limit"], "character")}` }];
    case "maxProperties":
      return [{ path, message: `must have at most ${count(params["limit"], "pair")}` }];
    case "minItems":
      return [{ path, message: `must have at least ${count(params["limit"], "item")}` }];
    case "maxItems":
      return [{ path, message: `must have at most ${count(params["limit"], "item")}` }];
    case "format": // date-time, the only format that is checked here
      return [{ path, message: "must be a date and time with an offset, such as 2026-11-21T12:00:00Z" }];
    case "minimum":
      return [{ path, message: `must be at least ${params["limit"]}` }];
    case "maximum":
      return [{ path, message: `must be at most ${params["limit"]}` }];
    default:
      return [{ path, message: `${aboutName(error)}${error.message}` }];
  }
}

/** The path of a fault in the value. Where a schema lets clients choose names, the last one is cut: see `pointerToken`. */
function pathIn({ instancePath, schemaPath }: ValidationError): string {
  if (!/\/(?:additionalProperties|propertyNames)$/.test(schemaPath)) return instancePath;
  const { parent, name } = splitPointer(instancePath);
  return `${parent}/${pointerToken(name)}`;
}

/** The pointer (RFC 6901) of the object that holds a property, and the name of the property. */
function splitPointer(pointer: string): { readonly parent: string; readonly name: string } {
  const slash = pointer.lastIndexOf("/");
  const token = pointer.slice(slash + 1);
  return { parent: pointer.slice(0, slash), name: token.replaceAll("~1", "/").replaceAll("~0", "~") };
}

/** The start of a message about a name that a client chose; empty for a message about its value. */
function aboutName({ schemaPath }: ValidationError): string {
  return schemaPath.endsWith("/propertyNames") ? "is a key that " : "";
}

/**
 * A name that a client chose as one token of a JSON Pointer (RFC 6901, section 3). It is cut, and made
 * Unicode, so that every client can read the response.
 */
export function pointerToken(name: string): string {
  return name.slice(0, MAX_NAME).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1");
}

function unknownProperty({ instancePath, schemaPath }: ValidationError, schema: TSchema, base: string, noun: string) {
  const { parent, name } = splitPointer(instancePath);
  const objectSchema = nodeAt(schema, schemaPath.slice(0, schemaPath.lastIndexOf("/")));
  const known = Object.keys((objectSchema?.["properties"] as object | undefined) ?? {});
  return {
    path: `${base}${parent}/${pointerToken(name)}`,
    message: unknownName(noun, name, known),
  };
}

function unknownName(noun: string, name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  if (meant) return `is not a ${noun}; did you mean ${meant}?`;
  return known.length > 0 ? `is not a ${noun}; it has ${known.join(", ")}` : `is not a ${noun}, which has none`;
}

function patternMeaning(schema: TSchema, schemaPath: string): string {
  const meaning = nodeAt(schema, schemaPath)?.[PATTERN_MEANING];
  return typeof meaning === "string" ? meaning : "only the allowed characters";
}

/** The part of a schema that a path like `#/properties/name` leads to. */
function nodeAt(schema: TSchema, schemaPath: string): Record<string, unknown> | undefined {
  let node: unknown = schema;
  for (const token of schemaPath.split("/").slice(1)) node = (node as Record<string, unknown> | undefined)?.[token];
  return node as Record<string, unknown> | undefined;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
