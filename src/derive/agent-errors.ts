import type { TSchema } from "typebox";
import type { ErrorBody, Fault } from "../contract/errors.ts";
import { firstFault, unknownName } from "../contract/input-faults.ts";
import { count, sentence } from "../contract/messages.ts";
import type { Operation } from "../contract/operation.ts";
import { IDEMPOTENCY_KEY } from "../contract/requests.ts";
import { exactJson } from "../contract/serialize.ts";
import { compileTextReader } from "../contract/validators.ts";

/** Where an input of a tool is in a request. `inner` is a field of the object `outer`. */
export interface Place {
  /** `keys` for the idempotency key. */
  readonly part: string;
  readonly outer: string;
  readonly inner: string | undefined;
  readonly schema: TSchema;
}

/** What the errors of a tool name. */
export interface NamedByErrors {
  readonly operation: Operation;
  readonly places: ReadonlyMap<string, Place>;
  /** See `AgentTool`. */
  readonly needs: readonly string[];
  /** The tool that reads all that is at a path. */
  readonly toolAt: (path: string) => string | undefined;
}

/** The inputs of a call; undefined if they are not known. */
type Given = Readonly<Record<string, unknown>> | undefined;

/** What models are told in other words: they see neither headers nor queries. */
const words: readonly (readonly [RegExp, string])[] = [
  [/`?Retry-After`?/g, "retryAfter"],
  [/`?Idempotency-Key`?/g, "idempotencyKey"],
  [/(?:a different|another) body, query[^.]*/g, "other inputs"],
  [/a POST or PATCH/g, "a call"],
  [/; write \+ as %2B/g, ""],
];

/** An error of an operation as its tool says it. `given` are the inputs of the call, `retryAfter` is in seconds. */
export function toolError(
  tool: NamedByErrors,
  given: Given,
  { code, message, status, details = [] }: ErrorBody,
  advice: string | undefined,
  retryAfter: number | undefined,
) {
  const said = (text: string) => {
    const wait = retryAfter === undefined ? "as many seconds as it said" : count(retryAfter, "second");
    const timed = text.replace("as many seconds as Retry-After says", wait);
    const named = timed.replaceAll(/`?GET (\/[\w/-]+)`?/g, (all, path: string) => tool.toolAt(path) ?? all);
    return words.reduce((kept, [pattern, word]) => kept.replaceAll(pattern, word), named);
  };
  const faults = details.map((fault) => inputFault(tool, given, fault));
  const impossible = given && status === 404 ? impossibleId(tool, given) : undefined;
  return {
    code,
    message: impossible ?? (faults.length > 0 ? invalidCall(faults) : said(message)),
    status,
    details: faults.length > 0 ? faults : undefined,
    advice: advice && said(advice),
    retryAfter,
  };
}

/** The record of a request, as it is for those who sent it with HTTP. */
interface SentRequest extends Partial<ErrorBody> {
  readonly operation?: string;
  readonly explanation: string;
  readonly advice?: string;
}

/** A record of a request as its tool says it, if it has one. `toolOf` finds one by the name of the operation. */
export function recordOf(sent: SentRequest, toolOf: (operation: string | undefined) => NamedByErrors | undefined) {
  const record = { ...sent, method: undefined, path: undefined };
  const tool = toolOf(sent.operation);
  const { code, message, status } = record;
  if (!tool || code === undefined || message === undefined || status === undefined) return record;
  const say = (text: string) =>
    toolError(tool, undefined, { ...record, code, message: text, status }, record.advice, undefined);
  return { ...record, ...say(message), explanation: say(record.explanation).message };
}

interface InputFault {
  readonly input: string;
  readonly message: string;
}

function invalidCall([first, ...others]: readonly InputFault[]): string {
  const more = others.length > 0 ? ` (and ${others.length} more, see details)` : "";
  return sentence(`The call is invalid: ${first?.input} ${first?.message}${more}`);
}

/** The fault of a request as that of the inputs which caused it. */
function inputFault({ operation, places, needs }: NamedByErrors, given: Given, { path, message }: Fault): InputFault {
  const [, part, outer, inner] = path.split("/").map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (outer === undefined) return { input: "the call", message }; // a whole part of the request, such as one too long
  if (part === "header" && outer === IDEMPOTENCY_KEY) return { input: "idempotencyKey", message };
  const isAt = (at: Place) =>
    at.part === part && at.outer === outer && (at.inner === undefined || inner === undefined || at.inner === inner);
  const input = [...places.keys()].filter((one) => isAt(places.get(one) as Place)).join(" and ") || outer;
  if (given && needs.includes(input) && isMissing(given[input])) return { input, message: "is required" };
  if (part !== "query") return { input, message };
  // An unknown input was sent as a parameter of the query.
  const isKnown = Object.hasOwn(operation.query?.properties ?? {}, outer);
  if (!isKnown) return { input, message: unknownName("input of this tool", input, [...places.keys()]) };
  return { input: inner === undefined ? input : `${input}[${inner}]`, message }; // an item of a list
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** What is wrong with an id that no resource can have; undefined if one can have it. */
function impossibleId({ operation, places, toolAt }: NamedByErrors, given: NonNullable<Given>): string | undefined {
  const list = toolAt(operation.path.replace(/\/\{.*/, ""));
  for (const [input, { schema }] of [...places].filter(([, { part }]) => part === "params")) {
    const message = idFault(given[input], schema);
    if (message === undefined) continue;
    return sentence(`${input} ${message}`) + (list === undefined ? "" : ` ${list} lists those that exist.`);
  }
  return undefined;
}

function idFault(id: unknown, schema: TSchema): string | undefined {
  if (isMissing(id)) return "is required";
  const text = typeof id === "string" ? id : exactJson(id);
  return firstFault(compileTextReader(schema)(text), schema)?.message;
}
