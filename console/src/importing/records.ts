// What this browser has imported: so that "Just happened" tells an import as one deed that can be undone, and a file that is
// imported again is noticed. It is kept in this browser only.
import { baseUrl } from "../router.tsx";
import { store, stored, Watchable } from "../watchable.ts";

const NAME = `petstore-imports ${baseUrl}`;
/** How many imports are kept, and for how long, in milliseconds. */
const [KEPT, KEPT_FOR] = [20, 7 * 86_400_000];

export interface ImportRecord {
  /** The shop, as addresses name it. */
  readonly shop: string;
  readonly file: string;
  /** When it began, in Unix milliseconds. */
  readonly at: number;
  readonly digest: string;
  /** The ids of the animals that it has added, as ranges, the lowest first. */
  readonly ids: readonly (readonly [first: string, last: string])[];
  readonly count: number;
}

function recordsNow(): readonly ImportRecord[] {
  const all = JSON.parse(stored(NAME) ?? "[]") as readonly ImportRecord[];
  return all.filter(({ at }) => at > Date.now() - KEPT_FOR);
}

export const importRecords = new Watchable(recordsNow());
addEventListener("storage", ({ key }) => key === NAME && importRecords.set(recordsNow())); // of another tab

/** Keeps what an import has added so far, in place of what it had added before. Of one that was taken back, nothing stays. */
export function keepRecord(record: ImportRecord): void {
  const others = importRecords.value.filter(({ at, shop }) => at !== record.at || shop !== record.shop);
  const all = (record.count > 0 ? [...others, record] : others).slice(-KEPT);
  importRecords.set(all);
  store(NAME, JSON.stringify(all));
}

/** Ids as ranges. They are in ascending order. */
export function rangesOf(ids: readonly bigint[]): (readonly [string, string])[] {
  const ranges: [bigint, bigint][] = [];
  for (const id of ids) {
    const last = ranges.at(-1);
    if (last?.[1] === id - 1n) last[1] = id;
    else ranges.push([id, id]);
  }
  return ranges.map(([first, last]) => [String(first), String(last)] as const);
}

export function idsIn({ ids }: ImportRecord): bigint[] {
  return ids.flatMap(([first, last]) =>
    Array.from({ length: Number(BigInt(last) - BigInt(first)) + 1 }, (_, index) => BigInt(first) + BigInt(index)),
  );
}

/** The import of this shop that has added an animal. */
export const importOf = (id: bigint, shop: string, all: readonly ImportRecord[]): ImportRecord | undefined =>
  all.find((one) => one.shop === shop && one.ids.some(([first, last]) => BigInt(first) <= id && id <= BigInt(last)));

/** Tells contents apart. It need not resist anybody. Pages over plain HTTP have no `crypto.subtle`. */
export function digestOf(bytes: Uint8Array): string {
  let [one, two] = [0x811c9dc5, bytes.length];
  for (const byte of bytes) {
    one = Math.imul(one ^ byte, 0x01000193);
    two = Math.imul(two + byte, 0x5bd1e995) ^ (two >>> 13);
  }
  return `${(one >>> 0).toString(36)}-${(two >>> 0).toString(36)}`;
}
