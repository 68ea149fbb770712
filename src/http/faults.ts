import type { TSchema } from "typebox";
import type { Fault } from "../contract/errors.ts";
import { PATTERN_MEANING } from "../contract/schemas.ts";
import type { compileValidator } from "../contract/validators.ts";
import { nearest } from "../nearest.ts";

/** Faults told at once: a bound on the work and on the answer that a hostile body can cause. */
const MOST_FAULTS = 50;
const LONGEST_NAME = 64;

type Validator = ReturnType<typeof compileValidator>;
type ValidationError = ReturnType<Validator["Errors"]>[number];

/**
 * All faults of a value that does not fit its schema. `base` is the JSON Pointer of the value within
 * the request; `noun` is what a property of it is called (`field`, `query parameter`).
 */
export function faultsOf(validator: Validator, value: unknown, schema: TSchema, base: string, noun: string): Fault[] {
  const properties = Object.keys((schema as { properties?: object }).properties ?? {});
  const faults = validator.Errors(value).flatMap((error) => translate(error, schema, base, noun, properties));
  return faults.slice(0, MOST_FAULTS);
}

function translate(error: ValidationError, schema: TSchema, base: string, noun: string, properties: string[]): Fault[] {
  const path = base + error.instancePath;
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required":
      return (params["requiredProperties"] as string[]).map((name) => ({
        path: `${path}/${name}`,
        message: "is required",
      }));
    case "additionalProperties":
      return (params["additionalProperties"] as string[]).slice(0, MOST_FAULTS).map((name) => ({
        path: `${path}/${pointerToken(name.slice(0, LONGEST_NAME))}`,
        message: unknownName(noun, name, properties),
      }));
    case "boolean": // comes with `additionalProperties`, which says more
      return [];
    case "enum":
      return [{ path, message: `must be one of ${(params["allowedValues"] as unknown[]).join(", ")}` }];
    case "pattern":
      return [{ path, message: `must hold ${patternMeaning(schema, error.schemaPath)}` }];
    case "type":
      return [{ path, message: `must be ${article(String(params["type"]))}` }];
    case "minLength":
      return [{ path, message: `must have at least ${count(params["limit"], "character")}` }];
    case "maxLength":
      return [{ path, message: `must have at most ${count(params["limit"], "character")}` }];
    case "minimum":
      return [{ path, message: `must be at least ${params["limit"]}` }];
    case "maximum":
      return [{ path, message: `must be at most ${params["limit"]}` }];
    default:
      return [{ path, message: error.message }];
  }
}

/** One token of a JSON Pointer (RFC 6901, section 3). */
function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unknownName(noun: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant) return `is not a ${noun} of this operation; did you mean ${meant}?`;
  return known.length > 0
    ? `is not a ${noun} of this operation; it has ${known.join(", ")}`
    : `is not a ${noun} of this operation, which has none`;
}

function patternMeaning(schema: TSchema, schemaPath: string): string {
  let node: unknown = schema;
  for (const token of schemaPath.split("/").slice(1)) node = (node as Record<string, unknown> | undefined)?.[token];
  const meaning = (node as Record<string, unknown> | undefined)?.[PATTERN_MEANING];
  return typeof meaning === "string" ? meaning : "only the allowed characters";
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function count(amount: unknown, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
