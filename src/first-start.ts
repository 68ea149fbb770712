import type { App } from "./app.ts";
import type { NewPet } from "./domains/pets/pets.operations.ts";

const sampleAnimals: readonly NewPet[] = [
  { name: "Rex", categoryId: 1n, status: "available" },
  { name: "Bella", categoryId: 1n, status: "pending" },
  { name: "Tom", categoryId: 2n, status: "available" },
  { name: "Luna", categoryId: 2n, status: "sold" },
  { name: "Kiwi", categoryId: 3n, status: "available" },
  { name: "Nemo", categoryId: 4n },
];

/** What a developer needs for a first call. */
export interface Welcome {
  readonly key: string;
  readonly address: string;
  readonly docs: string;
}

/**
 * On a store that has neither accounts nor animals, makes an account on the Business plan with one
 * key, and six animals. Returns undefined, and does nothing, on any other store.
 */
export async function firstStart(app: App): Promise<Welcome | undefined> {
  const [accounts, pets] = [await app.accounts.accounts(), (await app.pets.page(undefined, 1, undefined)).body];
  if (accounts.length > 0 || pets.length > 0) return undefined;
  for (const animal of sampleAnimals) await app.pets.add(animal);
  const now = Date.now();
  const account = await app.accounts.createAccount("First account", "business", undefined, now);
  const { key } = await app.accounts.issueKey(account.id, "First key", ["read", "write", "admin"], now);
  return { key, address: app.base, docs: app.docs };
}
