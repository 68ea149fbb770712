import { shown, withCommas } from "./messages.ts";
import { type BodyLimits, DIGITS_LIMIT } from "./requests.ts";

/**
 * The start of a number that may lose digits: it has at least 16, of which one may be a decimal point, or an exponent. What
 * comes before a number is part of it, so that no digit is looked at often.
 */
const mayLoseDigits = /(?:^|[\s[:,])-?[0-9](?:[0-9.]{15}|[0-9.]*[eE])/;
/** From here on no integer is a 64-bit integer, so its exact digits are not needed. */
const FAR_TOO_LARGE = 1e20;

/**
 * Parses JSON (RFC 8259) without rounding integers: one that a JavaScript number cannot represent exactly
 * becomes a bigint, unless it is far beyond 64 bits. Throws `SyntaxError` for invalid JSON.
 */
export function parseJson(text: string): unknown {
  if (!mayLoseDigits.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context: { source?: string }) =>
    typeof value === "number" && context.source !== undefined ? exactNumber(value, context.source) : value,
  );
}

/**
 * The exact number: a bigint for an integer beyond 2^53. NaN for a fraction so close to an integer that a
 * JavaScript number cannot distinguish them, so that it is not mistaken for that integer.
 */
function exactNumber(value: number, source: string): number | bigint {
  if (!Number.isInteger(value) || Math.abs(value) >= FAR_TOO_LARGE) return value;
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(source);
  if (!match) return Number.NaN;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  const cut = whole.length + Number(exponent); // the number of digits before the decimal point
  if (/[1-9]/.test(digits.slice(Math.max(0, cut)))) return Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  return BigInt(sign + digits.slice(0, cut).padEnd(cut, "0"));
}

/** What begins a value (a comma, an array or an object), and texts, in which the same characters mean nothing. */
const part = /"[^"\\]*(?:\\.[^"\\]*)*"?|[,[{]/gs;
/** What can be between a part and a number. */
const beforeNumber = /[ \t\r\n:-]*/y;
const tooManyDigits = new RegExp(`[0-9]{${DIGITS_LIMIT + 1}}`, "y");

/** Why a text should not be parsed, because that would cost far more than to receive it; undefined if it can be. */
export function sizeFault(text: string, { values: mostValues, escapes }: BodyLimits): string | undefined {
  if (text.length <= Math.min(mostValues, DIGITS_LIMIT)) return undefined; // as most bodies: it cannot hold more
  if (hasMoreEscapes(text, escapes)) return `has more than ${withCommas(escapes)} escapes`;
  part.lastIndex = 0;
  let values = 0;
  // Of JSON, at least every third part begins a value.
  for (let parts = 0; part.test(text); parts++) {
    if (text[part.lastIndex - 1] !== '"') values++;
    if (values > mostValues || parts > 3 * mostValues) return `has more than ${withCommas(mostValues)} values`;
    beforeNumber.lastIndex = part.lastIndex;
    beforeNumber.test(text);
    tooManyDigits.lastIndex = beforeNumber.lastIndex;
    if (tooManyDigits.test(text)) return `has a number of more than ${DIGITS_LIMIT} digits`;
  }
  return undefined;
}

function hasMoreEscapes(text: string, most: number): boolean {
  let count = 0;
  for (let at = text.indexOf("\\"); at >= 0 && count <= most; at = text.indexOf("\\", at + 2)) count++;
  return count > most;
}

const blanks = /[ \t\r\n]*/y;
/** The start of a text, up to its end or to what cannot be in it. */
// oxlint-disable-next-line no-control-regex -- JSON does not allow them in a text
const textStart = /"(?:[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
/** Any other token. */
const token = /[{}[\],:]|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

// What can come next, in words. After a value, it is a comma or what closes the array or object.
const VALUE = "a value";
const NAME = "a name in double quotes";
const COLON = "a colon";

/** What to do, by what is found where a value or a name is expected. */
const repairs: readonly (readonly [RegExp, string])[] = [
  [/['‘’“”]/y, "write texts and names in straight double quotes"],
  [/[}\]](?<=,[ \t\r\n]{0,99}.)/y, "remove the comma before it"],
  [/\/[/*]|#/y, "JSON has no comments"],
  [/(?:True|False|None|NaN|-?Infinity|undefined|nil)\b/y, "JSON has only true, false, null and decimal numbers"],
  [/object Object\]/y, "this is the name of an object; turn it into JSON first, as JSON.stringify does"],
  [/[A-Za-z_$]/y, "write texts and names in double quotes"],
  [/--/y, "send JSON, not a form"],
  [/[-+.0-9]/y, "write numbers like 7, -7 or 0.7"],
  [/</y, "send JSON, not XML or HTML"],
];
const form = /^[\w.[\]%+-]+=/;

/** Where and why a text that `parseJson` refuses is not JSON, and what to do. */
export function syntaxFault(text: string): string {
  if (form.test(text)) return 'is not JSON but a form; send JSON, such as {"name":"value"}';
  const closings: string[] = [];
  let expected = VALUE;
  let mayClose = false;
  for (let at = 0; ; ) {
    at += matchAt(blanks, text, at).length;
    const start = matchAt(textStart, text, at);
    if (start !== "" && text[at + start.length] !== '"') return brokenText(text, at, at + start.length);
    const found = start === "" ? matchAt(token, text, at) : `${start}"`;
    const closing = closings.at(-1);
    if (found === "") return unexpected(text, at, expected);
    if (mayClose && found === closing) {
      closings.pop();
      expected = afterValue(closings);
    } else if (expected === VALUE && /^[{[]/.test(found)) {
      closings.push(found === "{" ? "}" : "]");
      expected = found === "{" ? NAME : VALUE;
    } else if (expected === VALUE && !/^[\]},:]/.test(found)) expected = afterValue(closings);
    else if (expected === NAME && start !== "") expected = COLON;
    else if (expected === COLON && found === ":") expected = VALUE;
    else if (closing && expected === afterValue(closings) && found === ",") expected = closing === "}" ? NAME : VALUE;
    else return unexpected(text, at, expected);
    mayClose = !/^[,:]/.test(found) && expected !== COLON;
    at += found.length;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function afterValue(closings: readonly string[]): string {
  return closings.length > 0 ? `a comma or ${closings.at(-1)}` : "the end";
}

function unexpected(text: string, at: number, expected: string): string {
  if (at >= text.length) return `is not valid JSON: it ends at ${place(text, at)}, where ${expected} is expected`;
  const found = shown(String.fromCodePoint(text.codePointAt(at) as number));
  const repair = [VALUE, NAME].includes(expected) && repairs.find(([pattern]) => matchAt(pattern, text, at) !== "");
  const advice = repair ? `; ${repair[1]}` : "";
  return `is not valid JSON: ${place(text, at)} has ${found} where ${expected} is expected${advice}`;
}

/** The fault of a text in double quotes that stops before its end. */
function brokenText(text: string, from: number, at: number): string {
  if (at >= text.length) return `is not valid JSON: the text that begins at ${place(text, from)} has no closing quote`;
  const [what, repair] =
    text[at] === "\\"
      ? ["an invalid escape", "write \\ as \\\\"]
      : ["a control character", "write a line break as \\n, a tab as \\t"];
  return `is not valid JSON: ${place(text, at)} has ${what} in a text; ${repair}`;
}

const LINE_FEED = 10;

function place(text: string, at: number): string {
  let line = 1;
  let start = 0; // of the line
  for (let index = 0; index < at; index++) {
    if (text.charCodeAt(index) !== LINE_FEED) continue;
    line++;
    start = index + 1;
  }
  return `line ${line}, column ${at - start + 1}`;
}
