import { scopes } from "../contract/operation.ts";
import type { AccountStore } from "../domains/accounts/accounts.store.ts";
import { CategoryStore } from "../domains/categories/categories.store.ts";
import type { KeyStore } from "../domains/keys/keys.store.ts";
import type { IssuedKey } from "../domains/keys/keys.ts";
import type { NewPet } from "../domains/pets/pets.operations.ts";
import { PetStore } from "../domains/pets/pets.store.ts";
import { shopIn } from "../domains/shops/shops.store.ts";
import { nested, type Storage } from "../storage/storage.ts";

const sampleCategories = [
  { id: 1n, name: "Dogs" },
  { id: 2n, name: "Cats" },
  { id: 3n, name: "Birds" },
  { id: 4n, name: "Fish" },
];
const sampleAnimals: readonly NewPet[] = [
  { name: "Rex", categoryId: 1n, status: "available" },
  { name: "Bella", categoryId: 1n, status: "pending" },
  { name: "Tom", categoryId: 2n, status: "available" },
  { name: "Luna", categoryId: 2n, status: "sold" },
  { name: "Kiwi", categoryId: 3n, status: "available" },
  { name: "Nemo", categoryId: 4n },
];

/**
 * On a store that has no account, makes one on the Business plan with one key, which is returned, and six animals in
 * four categories in its sandbox: all in one transaction.
 */
export async function firstStart(
  storage: Storage,
  accounts: AccountStore,
  keys: KeyStore,
): Promise<IssuedKey | undefined> {
  if ((await accounts.list()).length > 0) return undefined;
  const pets = new PetStore(storage);
  const categories = new CategoryStore(storage, pets);
  const now = Date.now();
  return storage.write(function* () {
    const { id } = yield* accounts.create("First account", "business", undefined, now);
    const shop = yield* shopIn(id, "test");
    for (const category of sampleCategories) yield* nested(categories.add(shop, category));
    for (const animal of sampleAnimals) yield* nested(pets.add(shop, animal));
    return yield* keys.issue(id, { mode: "test", name: "First key", scopes, plannedEnd: null }, now);
  });
}
