// The changes of status that the table allows for each cause, and their effects on the store.

import { expect, test } from "bun:test";
import { newTestStore } from "../../../test/harness/test-store.ts";
import { unchecked } from "../../../test/harness/unchecked-pets.ts";
import { shopNumber } from "../../contract/caller.ts";
import { isFailure } from "../../contract/errors.ts";
import { operator } from "../events/publish.ts";
import { createShops, lockShop, shopOf } from "../shops/shops.store.ts";
import { changeStatus } from "./pet-change.ts";
import { petUpdated } from "./pets.operations.ts";
import type { PetStatus } from "./pets.schemas.ts";
import { PetStore } from "./pets.store.ts";
import { type StatusCause, transitions } from "./transitions.ts";

const statuses: readonly PetStatus[] = ["available", "pending", "sold"];
const causes: readonly StatusCause[] = [
  "order_placed",
  "order_sold",
  "order_confirmed",
  "order_cancelled",
  "order_expired",
  "order_returned",
];

test("a change of status follows the table, and returns its event", async () => {
  const store = await newTestStore();
  const storage = await store.open();
  const pets = new PetStore(storage, unchecked);
  await storage.write(() => createShops("acc_1"));
  const shop = (await storage.read(shopOf("acc_1", "test"))) as number;
  const change = (id: bigint, to: PetStatus, cause: StatusCause) =>
    storage.write(function* () {
      return yield* changeStatus(yield* lockShop(shopNumber(shop), 0), id, to, cause);
    });
  for (const cause of causes) {
    for (const from of statuses) {
      for (const to of statuses) {
        const pet = await storage.write(() =>
          pets.add(operator(shopNumber(shop)), { name: "Rex", categoryId: 1n, status: from }),
        );
        if (!pet || isFailure(pet)) throw new Error("The animal was not added.");
        const outcome = await change(pet.id, to, cause);
        const allowed = transitions.filter((one) => one.from === from && one.causes.includes(cause));
        const isAllowed = allowed.some((one) => one.to === to);
        const event = { type: petUpdated, under: pet.id, previous: `{"status":"${from}"}` };
        const expected = isAllowed
          ? { pet: { ...pet, status: to }, event: expect.objectContaining(event) }
          : { refused: "transition" as const, from };
        expect([cause, from, to, outcome]).toEqual([cause, from, to, expected]);
        expect(await storage.read(pets.get(shopNumber(shop), pet.id))).toMatchObject({ status: isAllowed ? to : from });
      }
    }
  }
  expect(await change(999n, "sold", "order_sold")).toBe("not found");
  await storage.close();
  await store.remove();
});
