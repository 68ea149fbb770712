import type { Storage } from "../storage/storage.ts";
import type { Change } from "../storage/transaction.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from "../timing/clock.ts";
import { CategoryStore } from "./categories/categories.store.ts";
import { type Author, operator } from "./events/publish.ts";
import { orderChanges } from "./orders/order-changes.ts";
import type { StoreOrder } from "./orders/orders.schemas.ts";
import { decidingOrder, OrderStore } from "./orders/orders.store.ts";
import { PetStore } from "./pets/pets.store.ts";

const categoryNames = ["Dogs", "Cats", "Birds", "Fish"];
/** How the references of the animals of each category begin: numbers of chips, rings and tanks. */
const references = ["2760981023456", "2760981078901", "ring 26-1", "tank 4-"];
/** By category, from 1 on, with what is asked. A missing status is `available`. */
const animals: readonly (readonly [name: string, categoryId: bigint, cents: bigint, status?: "pending" | "none"])[] = [
  ["Rex", 1n, 59_000n],
  ["Bella", 1n, 68_000n, "pending"],
  ["Tom", 2n, 18_000n],
  ["Luna", 2n, 26_000n],
  ["Kiwi", 3n, 7_500n],
  ["Nemo", 4n, 1_990n, "none"],
  ...["Bruno", "Daisy", "Rocky", "Lucy"].map((name) => [name, 1n, 72_000n] as const),
  ...["Cleo", "Felix", "Mia", "Oscar", "Simba"].map((name) => [name, 2n, 24_900n] as const),
  ...["Coco", "Charlie", "Pip", "Sunny"].map((name) => [name, 3n, 8_900n] as const),
  ...["Bubbles", "Dory", "Finn", "Goldie", "Pearl"].map((name) => [name, 4n, 1_490n] as const),
];
/** How many days the log of the samples goes back. */
const DAYS = 14;
const sales: readonly (readonly [hoursAgo: number, name: string, seller: string, cents: bigint])[] = [
  [317, "Rocky", "Ann at the till", 65_000n],
  [291, "Coco", "Ben at the till", 8_900n],
  [268, "Finn", "Ann at the till", 1_450n],
  [243, "Mia", "Web shop", 24_900n],
  [219, "Bubbles", "Web shop", 990n],
  [196, "Lucy", "Ann at the till", 72_000n],
  [170, "Pip", "Ben at the till", 6_500n],
  [147, "Cleo", "Ann at the till", 19_900n],
  [123, "Goldie", "Web shop", 1_200n],
  [98, "Simba", "Ben at the till", 28_000n],
  [74, "Sunny", "Ann at the till", 9_500n],
  [51, "Oscar", "Web shop", 21_500n],
  [27, "Pearl", "Ann at the till", 2_300n],
  [2, "Luna", "Ben at the till", 26_000n],
];
/** The sale that is taken back on the next day. */
const returned = "Goldie";

/**
 * Part of a transaction: adds animals and their sales of the last days to the author's shop, which must be empty and new:
 * its log begins in the past. `now` is in Unix milliseconds.
 */
export function* addSamples(author: Author, now: number, storage: Storage): Change<void> {
  let time = now - DAYS * DAY_MS;
  const clock = { ...systemClock, now: () => time };
  const categories = new CategoryStore(storage, clock);
  const pets = new PetStore(storage, { clock, categoryExists: undefined, orderOf: decidingOrder });
  const orders = new OrderStore(clock, 15 * MINUTE_MS);
  for (const name of categoryNames) yield* categories.add(author, { name });
  for (const [index, [name, categoryId, amount, status = "available"]] of animals.entries()) {
    const reference = `${references[Number(categoryId) - 1]}${String(index + 1).padStart(2, "0")}`;
    const fields = { name, categoryId, price: { amount, currency: "EUR" }, reference };
    yield* pets.add(author, status === "none" ? fields : { ...fields, status });
  }
  for (const [hoursAgo, name, seller, cents] of sales) {
    const by = { ...operator(author.shop), name: seller };
    const petId = BigInt(animals.findIndex(([one]) => one === name) + 1);
    time = now - hoursAgo * HOUR_MS;
    const price = { amount: cents, currency: "EUR" };
    const order = (yield* orders.place(by, { petId, price, confirm: true })) as StoreOrder;
    if (name !== returned) continue;
    time += 20 * HOUR_MS;
    yield* orders.change(by, order.id, orderChanges.return, () => true);
  }
}
