import { withoutCommit } from "../../storage/combined-steps.ts";
import type { Transaction } from "../../storage/transaction.ts";
import type { Author } from "../events/author.ts";

interface SampleCategory {
  readonly id: bigint;
  readonly name: string;
}
interface SamplePet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: "available" | "pending" | "sold";
}

const categories: readonly SampleCategory[] = [
  { id: 1n, name: "Dogs" },
  { id: 2n, name: "Cats" },
  { id: 3n, name: "Birds" },
  { id: 4n, name: "Fish" },
];
const pets: readonly SamplePet[] = [
  { name: "Rex", categoryId: 1n, status: "available" },
  { name: "Bella", categoryId: 1n, status: "pending" },
  { name: "Tom", categoryId: 2n, status: "available" },
  { name: "Luna", categoryId: 2n, status: "sold" },
  { name: "Kiwi", categoryId: 3n, status: "available" },
  { name: "Nemo", categoryId: 4n },
];

/** The stores that the samples are added to. */
export interface SampleStores {
  readonly categories: { add(author: Author, category: SampleCategory): Transaction<unknown> };
  readonly pets: { add(author: Author, pet: SamplePet): Transaction<unknown> };
}

/** Part of a transaction: adds six animals in four categories to the author's shop, which must be empty. */
export function* addSamples(author: Author, stores: SampleStores): Transaction<void> {
  for (const category of categories) yield* withoutCommit(stores.categories.add(author, category));
  for (const pet of pets) yield* withoutCommit(stores.pets.add(author, pet));
}
