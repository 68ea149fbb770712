import type { FieldDescription } from "../../contract.ts";
import { amountText, type Money, priceHint, priceIn } from "../money.ts";

/** The content of the control of a field: its text, or the selected choices. */
export type Entry = string | readonly string[];
export type Entries = Readonly<Record<string, Entry>>;

/** How an entry for an id begins that names what is created first. */
export const NEW = "new ";

/** The entry that shows a value. */
export function entryOf({ kind, preset }: FieldDescription, value: unknown): Entry {
  const shown = value ?? preset;
  if (kind === "choices") return (shown as readonly string[] | undefined) ?? [];
  if (kind === "pairs") return Object.entries((shown as Record<string, string> | undefined) ?? {}).flat();
  if (kind === "price") return shown ? `${amountText(shown as Money)} ${(shown as Money).currency}` : "";
  if (kind === "time" && shown !== undefined) return localTime(new Date(shown as string));
  // oxlint-disable-next-line typescript/no-base-to-string -- what is left are texts and numbers
  return shown === undefined ? "" : String(shown);
}

/** A time as the time control shows it: to the minute, in the user's time zone. */
function localTime(time: Date): string {
  return new Date(+time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The keys and values of pairs, which their entry has one after the other. */
export function pairsIn(entry: Entry | undefined): [key: string, value: string][] {
  const texts = (entry ?? []) as readonly string[];
  return texts.flatMap((key, index) => (index % 2 === 0 ? [[key, texts[index + 1] ?? ""]] : []));
}

/** The amount and the currency of the entry of a price, as they were typed. */
export function priceParts(entry: Entry | undefined): [amount: string, currency: string] {
  const [, amount = "", currency = ""] = /^(.*?) ?([A-Z]*)$/.exec(entry as string) ?? [];
  return [amount.trim(), currency];
}

/** True if a pair has no key, or that of an earlier pair. An empty pair is left out. */
export function isWrongPair([key, value]: [string, string], index: number, pairs: readonly [string, string][]) {
  return key ? pairs.findIndex(([other]) => other === key) < index : value !== "";
}

/**
 * The value of an entry, as operations accept it; undefined if it is not sent. Of pairs, only those that differ from
 * `before` are sent, so that the others keep what another user has changed. Removed ones are sent as null.
 */
export function valueOf(
  { kind, canBeEmpty, isRemovable }: FieldDescription,
  entry: Entry | undefined,
  before?: Entry,
): unknown {
  if (kind === "pairs") {
    const removed = pairsIn(before).map(([key]) => [key, null]);
    const pairs = new Map([...removed, ...pairsIn(entry).filter(([key]) => key)] as [string, string | null][]);
    for (const [key, value] of pairsIn(before)) if (pairs.get(key) === value) pairs.delete(key);
    return pairs.size > 0 ? Object.fromEntries(pairs) : undefined;
  }
  if (kind === "price") {
    const [amount, currency] = priceParts(entry);
    if (amount) return priceIn(amount, currency);
  }
  if (isRemovable && before && (entry === "" || kind === "price")) return null;
  if (kind === "price") return undefined;
  if (typeof entry !== "string") return Array.isArray(entry) && entry.length === 0 ? undefined : entry;
  if (entry === "" && !canBeEmpty) return undefined;
  if (kind === "id") return entry.startsWith(NEW) ? entry : BigInt(entry.trim());
  if (kind === "integer") return Number(entry);
  if (kind === "time") return new Date(entry).toISOString();
  return entry;
}

/** What is wrong with an entry by the limits of the contract. It is checked before the request. */
export function faultOf(field: FieldDescription, entry: Entry | undefined): string | undefined {
  const { kind, isRequired, maxLength, minimum, maximum } = field;
  if (kind === "pairs") return pairsIn(entry).some(isWrongPair) ? "Name each detail, and none twice." : undefined;
  if (kind === "price") {
    const [amount, currency] = priceParts(entry);
    return amount && !priceIn(amount, currency) ? priceHint(currency) : undefined;
  }
  const isEmpty = entry === undefined || entry === "" || (Array.isArray(entry) && entry.length === 0);
  if (isEmpty) return isRequired ? "Fill this in." : undefined;
  if (typeof entry !== "string") return undefined;
  const noInteger = "Enter a whole number.";
  if (kind === "id" && !entry.startsWith(NEW)) {
    if (!/^\s*-?\d+\s*$/.test(entry)) return noInteger;
    const id = BigInt(entry);
    if (id !== BigInt.asIntN(64, id)) return "Enter a shorter number.";
  }
  if (kind === "integer") {
    const number = Number(entry);
    if (!Number.isInteger(number)) return noInteger;
    if (minimum !== undefined && number < minimum) return `Enter at least ${minimum}.`;
    if (maximum !== undefined && number > maximum) return `Enter at most ${maximum}.`;
  }
  if (!kind) {
    const { length } = Array.from(entry); // code points, as the contract counts
    if (maxLength !== undefined && length > maxLength)
      return `Enter at most ${maxLength} characters; these are ${length}.`;
  }
  return undefined;
}
