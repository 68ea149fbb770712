import type { Storage } from "../storage/storage.ts";
import { type Clock, MINUTE_MS } from "../timing/clock.ts";
import { CategoryStore } from "./categories/categories.store.ts";
import { orderChanges } from "./orders/order-changes.ts";
import type { StoreOrder } from "./orders/orders.schemas.ts";
import { OrderStore } from "./orders/orders.store.ts";
import { PetStore } from "./pets/pets.store.ts";
import { petsByCategory } from "./pets/pets-by-category.store.ts";
import type { SampleStores } from "./sandbox/samples.ts";

/** The stores of samples, on a clock. */
export function sampleStores(storage: Storage): (clock: Clock) => SampleStores {
  return (clock) => {
    const pets = new PetStore(storage, { clock });
    const orders = new OrderStore(storage, pets, clock, 15 * MINUTE_MS);
    return {
      categories: new CategoryStore(petsByCategory, clock),
      pets,
      orders: {
        *sell(author, petId, amount) {
          const order = yield* orders.place(author, { petId, price: { amount, currency: "EUR" }, confirm: true });
          return (order as StoreOrder).id;
        },
        takeBack: (author, id) => orders.change(author, id, orderChanges.return, () => true),
      },
    };
  };
}
