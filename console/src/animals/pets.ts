import type { Page, Pet, PetStatus, Petstore } from "petstore-client";
import { baseUrl } from "../router.tsx";
import { tightestWindow } from "../service/connection.ts";
import { replaceItem } from "../service/lists.ts";
import { logNumber } from "../service/live.ts";
import { invalidate, updateCache } from "../service/query.ts";
import type { OpenSession } from "../session/session.ts";
import { FIGURES } from "../shop/figures.ts";
import { say, sayFailure } from "../ui/toasts.tsx";
import { countOf, wordOf } from "../ui/words.ts";
import { Watchable } from "../watchable.ts";
import { cachePets } from "./pet-name.tsx";

/** Prefix of the query keys of responses with animals. */
export const PETS = "pets";
/** Prefix of the query keys of lists with a filter. */
export const FILTERED = `${PETS}?filtered`;
/** Concurrent changes of single animals. The client paces them within the limits. */
const CONCURRENCY = 4;

/** How many animals are suggested. */
const SUGGESTED = 8;

/**
 * Animals whose number or reference a text is, or whose names begin with it: those that are meant exactly come first.
 * Without a text, the newest that are available.
 */
export const findPets = (petstore: Petstore, search: string, limit = SUGGESTED): Promise<Page<Pet>> =>
  petstore.listPets({ ...(search ? { search } : { status: "available", sort: "-id" }), limit }).page();

/** Ids of animals whose deletion can still be undone. They are not shown. */
export const pendingDeletions = new Watchable<ReadonlySet<bigint>>(new Set());

/** Shows an animal as it is now, wherever it is listed. */
export function showPet(pet: Pet): void {
  updateCache<readonly Pet[]>(`${PETS}?`, (pets) => replaceItem(pets, pet.id, pet));
  cachePets([pet]);
  updateCache<Pet>(`${PETS}/${pet.id}`, () => pet);
}

/** Removes a deleted animal from all lists. */
export function forgetPet(id: bigint): void {
  updateCache<readonly Pet[]>(`${PETS}?`, (pets) => replaceItem(pets, id));
  updateCache<Pet | null>(`${PETS}/${id}`, () => null);
}

/** Changes the status of animals. It can be undone if all had a status. */
export async function setStatus(petstore: Petstore, pets: readonly Pet[], status: PetStatus): Promise<void> {
  const changed = pets.filter((pet) => pet.status !== status);
  const done = await each(changed, async ({ id }) => showPet(await petstore.updatePet(id, { status })));
  const undo = () =>
    void each(done, async ({ id, status: before }) => {
      if (before) showPet(await petstore.updatePet(id, { status: before }));
    });
  if (done.length === 0) return;
  invalidate(FIGURES);
  say(`${whatOf(done)} ${wordOf(status).toLowerCase()}`, done.every((pet) => pet.status) ? undo : undefined);
}

/**
 * Deletes animals when it can no longer be undone, or when the user signs out or leaves the page. Before the page closes,
 * the browser asks if the limits do not admit all of them. A reset of the sandbox deletes them too.
 */
export function deletePets({ petstore, secret }: OpenSession, pets: readonly Pet[]): void {
  const ids = new Set(pets.map(({ id }) => id));
  const rest = new Set(ids);
  const end = () => {
    removeEventListener("pagehide", leave);
    removeEventListener("beforeunload", ask);
    unwatch();
    pendingDeletions.set(pendingDeletions.value.difference(ids));
  };
  // Without the client, which sends some of them only after responses to others.
  const leave = () => {
    end();
    const options = { method: "DELETE", keepalive: true, headers: { Authorization: `Bearer ${secret}` } };
    for (const id of rest) void fetch(`${baseUrl}/pets/${id}`, options);
    rest.clear(); // the page may come back
  };
  const ask = (event: Event) => rest.size > tightestWindow.value!.remaining && event.preventDefault();
  addEventListener("pagehide", leave);
  addEventListener("beforeunload", ask);
  const unwatch = logNumber.watch(end);
  pendingDeletions.set(pendingDeletions.value.union(ids));
  say(`${whatOf(pets)} deleted`, end, async () => {
    await each(
      pets.filter(({ id }) => rest.has(id)),
      async ({ id }) => {
        await petstore.deletePet(id);
        rest.delete(id);
      },
    );
    end();
    invalidate(PETS);
  });
}

/** The name of one animal, or how many there are. */
export const whatOf = (pets: readonly Pet[]): string =>
  pets.length === 1 ? (pets[0] as Pet).name : countOf(pets.length, "animal");

/**
 * Processes a few animals at a time. Returns those that succeeded; reports the others. After a reset of the sandbox, it
 * stops and returns none.
 */
export async function each(pets: readonly Pet[], work: (pet: Pet) => Promise<unknown>): Promise<Pet[]> {
  const done: Pet[] = [];
  const rest = [...pets];
  const log = logNumber.value;
  const worker = async () => {
    for (let pet = rest.shift(); pet && log === logNumber.value; pet = rest.shift()) {
      try {
        await work(pet);
        done.push(pet);
      } catch (error) {
        sayFailure(pet.name, error);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return log === logNumber.value ? done : [];
}
