import type { Pet } from "petstore-client";
import { useEffect } from "preact/hooks";
import { logNumber } from "../service/live.ts";
import { session } from "../session/session.ts";
import { useWatchable, Watchable } from "../watchable.ts";

/** The most ids that one request may have. */
const MAX_IDS = 100;

/** Requested names; null for a deleted animal. */
const names = new Watchable<ReadonlyMap<bigint, string | null>>(new Map());
const forgetNames = () => names.set(new Map());
session.watch(() => session.value.kind !== "open" && forgetNames()); // the next user may have another shop
logNumber.watch(forgetNames);
const wanted = new Set<bigint>();

/** Reads all names that a page shows in one request. */
function requestName(id: bigint): void {
  if (names.value.has(id) || wanted.has(id)) return;
  if (wanted.size === 0) queueMicrotask(() => void readNames());
  wanted.add(id);
}

async function readNames(): Promise<void> {
  const ids = [...wanted];
  wanted.clear();
  const { value } = session;
  const log = logNumber.value;
  if (value.kind !== "open") return;
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    const part = ids.slice(start, start + MAX_IDS);
    const pets: readonly Pet[] | undefined = await value.petstore
      .listPets({ ids: part, limit: MAX_IDS })
      .page()
      .catch(() => undefined);
    // After a failure they are requested again when they are shown again, after a reset at once.
    if (!pets || log !== logNumber.value) continue;
    const found = new Map(pets.map(({ id, name }) => [id, name]));
    names.set(new Map([...names.value, ...part.map((id) => [id, found.get(id) ?? null] as const)]));
  }
}

/** Stores names from another response. */
export function cacheNames(pets: readonly Pick<Pet, "id" | "name">[]): void {
  const others = pets.filter(({ id, name }) => names.value.get(id) !== name);
  if (others.length > 0) names.set(new Map([...names.value, ...others.map(({ id, name }) => [id, name] as const)]));
}

/** The name of an animal if it is known, or else its number. */
export const nameOf = (id: bigint): string => names.value.get(id) ?? `Animal ${id}`;

/** The name of an animal; its number while the name is not known, or if it was deleted. */
export function PetName({ id }: { readonly id: bigint }) {
  const known = useWatchable(names).get(id);
  useEffect(() => requestName(id), [id, logNumber.value]);
  return known ? <bdi>{known}</bdi> : <span class="number">No. {String(id)}</span>;
}
