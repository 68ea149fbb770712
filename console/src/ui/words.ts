/** What a shop calls the states of orders, and what happens to animals. */
const shopWords: Readonly<Record<string, string>> = {
  placed: "Reserved",
  confirmed: "Sold",
  created: "Added",
  updated: "Changed",
};

/** A name of the contract as readable text: `not_found` is "Not found", `order.placed` is "Order placed". */
export function wordOf(name: string): string {
  const words = shopWords[name] ?? name.replaceAll(/[_.]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** "1,000". Without `Intl`, whose first use takes as long as all other scripts at the start. */
export const numberOf = (count: number | bigint): string =>
  String(count).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g, ",");

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
