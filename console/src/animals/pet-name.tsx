import type { Pet } from "petstore-client";
import { useEffect } from "preact/hooks";
import { logNumber } from "../service/live.ts";
import { session } from "../session/session.ts";
import { useWatchable, Watchable } from "../watchable.ts";

/** The most ids that one request may have. */
const MAX_IDS = 100;

/** Animals that were asked for; null for a deleted one. */
const known = new Watchable<ReadonlyMap<bigint, Pet | null>>(new Map());
/** Animals that are asked for now, and those of them that the next request asks for. */
const wanted = new Set<bigint>();
const next: bigint[] = [];
const forgetAll = () => {
  known.set(new Map());
  wanted.clear();
};
session.watch(() => session.value.kind !== "open" && forgetAll()); // the next user may have another shop
logNumber.watch(forgetAll);

/** Reads all animals whose names a page shows in one request. */
function request(id: bigint): void {
  if (known.value.has(id) || wanted.has(id)) return;
  wanted.add(id);
  if (next.push(id) === 1) queueMicrotask(() => void readNext());
}

async function readNext(): Promise<void> {
  const ids = next.splice(0);
  const { value } = session;
  const log = logNumber.value;
  if (value.kind !== "open") return wanted.clear();
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    const part = ids.slice(start, start + MAX_IDS);
    const pets: readonly Pet[] | undefined = await value.petstore
      .listPets({ ids: part, limit: MAX_IDS })
      .page()
      .catch(() => undefined);
    for (const id of part) wanted.delete(id);
    // After a failure they are requested again when they are shown again, after a reset at once.
    if (!pets || log !== logNumber.value) continue;
    const found = new Map(pets.map((pet) => [pet.id, pet]));
    known.set(new Map([...known.value, ...part.map((id) => [id, found.get(id) ?? null] as const)]));
  }
}

/** Keeps animals of another response. */
export function cachePets(pets: readonly Pet[]): void {
  known.set(new Map([...known.value, ...pets.map((pet) => [pet.id, pet] as const)]));
}

/** The name of an animal if it is known, or else its number. */
export const nameOf = (id: bigint): string => known.value.get(id)?.name ?? `Animal ${id}`;

/** What tells an animal from others of its name: its reference, or else its number. */
export const referenceOf = ({
  id,
  reference = known.value.get(id)?.reference,
}: Pick<Pet, "id" | "reference">): string => reference ?? String(id);

/** An animal, as it was when it was last read; undefined while it is not known, or if it was deleted. */
export function usePet(id: bigint): Pet | undefined {
  const pet = useWatchable(known).get(id);
  useEffect(() => request(id), [id, logNumber.value]);
  return pet ?? undefined;
}

/** The name of an animal; its number while the name is not known, or if it was deleted. */
export function PetName({ id }: { readonly id: bigint }) {
  const pet = usePet(id);
  return pet ? <bdi>{pet.name}</bdi> : <span class="number">No. {String(id)}</span>;
}
