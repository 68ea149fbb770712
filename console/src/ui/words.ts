/** What the shop calls what happens to its resources. */
const shopWords: Readonly<Record<string, string>> = { created: "Added", updated: "Changed" };

/** The tones of states: the classes in `styles/tokens.css`. */
type Tone = "good" | "wait" | "done" | "bad" | "calm";

/** The states of animals, orders, keys, endpoints and responses: one tone each, and a word where it is not its own name. */
const states: Readonly<Record<string, readonly [tone: Tone, word?: string]>> = {
  available: ["good"],
  pending: ["wait"],
  placed: ["wait", "Reserved"],
  sold: ["done"],
  confirmed: ["done", "Sold"],
  valid: ["good"],
  banned: ["bad"],
  enabled: ["good"],
  paused: ["wait"],
  disabled: ["bad"],
  failing: ["bad"],
  succeeded: ["good"],
  rejected: ["wait"],
  failed: ["bad"],
};

export const toneOf = (state: string | undefined): Tone => states[`${state}`]?.[0] ?? "calm";

/** What a shop is called beside its name. */
export const kindOf = (isLive: boolean): string => (isLive ? "Live shop" : "Sandbox");

/** A name of the contract as readable text: `not_found` is "Not found", `order.placed` is "Order placed". */
export function wordOf(name: string): string {
  const words = states[name]?.[1] ?? shopWords[name] ?? name.replaceAll(/[_.]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

let format: Intl.NumberFormat | undefined;
/** How the browser's language writes numbers. Made when it is first needed: that takes as long as all other scripts. */
const numbers = () => (format ??= new Intl.NumberFormat(undefined, { numberingSystem: "latn" }));

/** "1,000" or "1.000". */
export const numberOf = (count: number | bigint): string =>
  /^\d{1,3}$/.test(String(count)) ? String(count) : numbers().format(count);

/** What the browser's language has before decimals. */
export const decimalMark = (): string =>
  numbers()
    .formatToParts(0.5)
    .find(({ type }) => type === "decimal")?.value ?? ".";

/** "1 animal", "3 animals". */
export function countOf(count: number, one: string): string {
  return `${numberOf(count)} ${count === 1 ? one : `${one}s`}`;
}

const lengths = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

function inUnits(seconds: number, isUnit: (length: number) => boolean): string {
  const [length, unit] = lengths.find(([one]) => isUnit(one)) ?? lengths[3];
  return countOf(Math.trunc(seconds / length), unit);
}

/** A number of seconds in the largest unit that it is a whole number of: "90 seconds", "1 day". */
export const durationOf = (seconds: number): string => inUnits(seconds, (one) => seconds > 0 && seconds % one === 0);

/** A number of seconds in the largest unit that it reaches, rounded down: 90 seconds are "1 minute". */
export const roughly = (seconds: number): string => inUnits(seconds, (one) => seconds >= one);
