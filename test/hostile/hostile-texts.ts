import * as fc from "fast-check";
import { MARK } from "./soundness.ts";

/** Names that every object, function or promise of JavaScript knows. */
export const dangerousNames = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "toJSON",
  "valueOf",
  "hasOwnProperty",
  "isPrototypeOf",
  "__defineGetter__",
  "__lookupSetter__",
  "then",
  "length",
  "error",
  "",
];

/** Texts for parts of a query or path, percent-encoded as far as a request line needs it. */
export const hostileTexts = [
  "",
  "0",
  "-0",
  "-1",
  "+1",
  "01",
  "1.0",
  "1e1",
  "1e999",
  "0x1",
  "1,2",
  "1;2",
  "1%20",
  "%201",
  "1+",
  "9".repeat(400),
  "-9223372036854775808",
  "9223372036854775808",
  "18446744073709551617",
  "NaN",
  "-Infinity",
  "null",
  "true",
  "[]",
  "{}",
  "[object%20Object]",
  "%00",
  "1%00",
  `%0d%0aX-${MARK}:%201`,
  `%0D%0A%0D%0A${MARK}`,
  `%E5%98%8A%E5%98%8DX-${MARK}:1`,
  "%",
  "%2",
  "%zz",
  "%u0041",
  "%ff",
  "%c0%80",
  "%e0%80%af",
  "%ed%a0%80",
  "%f4%90%80%80",
  "%F0%9F%90%95",
  "%D9%A3",
  "\xd9\xa3",
  "\xff\xfe",
  "%E2%80%AE",
  "%2e%2e",
  "..",
  ".",
  "%2e%2e%2fetc%2fpasswd",
  "%5c..%5c",
  "1%2f2",
  "'%20OR%20'1'='1",
  "1;DROP%20TABLE%20pets",
  "1'--",
  "%3Cscript%3E",
  "$%7B7*7%7D",
  "%7B%7B7*7%7D%7D",
  "__proto__",
  "constructor",
  "x".repeat(10_000),
  "%F0%9F%90%95".repeat(1_000),
];

/** A JSON number, in any spelling. */
export const hostileNumber: fc.Arbitrary<string> = fc
  .record({
    sign: fc.constantFrom("", "-"),
    whole: fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String),
      fc.constantFrom("0", "1", "9007199254740993", "9223372036854775807", "9223372036854775808", "1".repeat(400)),
    ),
    fraction: fc.oneof(
      fc.constant(""),
      fc.stringMatching(/^\.[0-9]{1,25}$/),
      fc.constantFrom(".0", `.${"0".repeat(300)}`),
    ),
    exponent: fc.oneof(
      { weight: 3, arbitrary: fc.constant("") },
      fc.integer({ min: -30, max: 30 }).map((power) => `e${power}`),
      fc.constantFrom("e0", "E+1", "e-1", "e00000000001", "e309", "e-400", "e99999", "e-99999"),
    ),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent);

/** True if the JSON number is an integer of 64 bits, by exact arithmetic. */
export function isInt64Text(number: string): boolean {
  const [, sign, whole = "", fraction = "", power = "0"] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(number) ?? [];
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return true;
  const scale = Number(power) - fraction.length;
  if (scale > 20) return false;
  if (scale < -1_000) return false;
  const divisor = 10n ** BigInt(Math.max(0, -scale));
  if (digits % divisor !== 0n) return false;
  const value = (digits / divisor) * 10n ** BigInt(Math.max(0, scale));
  return sign === "-" ? value <= 2n ** 63n : value < 2n ** 63n;
}
