// What the types know; `npm run check` compiles it.
import { expect, test } from "bun:test";
import { type Petstore as Client, type Event, type OrderConfirmedEvent, Petstore } from "../src/index.ts";
import { fakeFetch } from "../src/testing.ts";

const petstore = new Petstore({ key: "psk_test_1", baseUrl: "http://petstore.test/v1", fetch: fakeFetch() });

test("the filter of types decides the type of the events", async () => {
  const confirmed: AsyncGenerator<OrderConfirmedEvent> = petstore.streamEvents({ type: ["order.confirmed"] });
  await confirmed.return(undefined);
  const all: AsyncGenerator<Event> = petstore.streamEvents({ petId: 7 });
  const any = petstore.streamEvents({ petId: 7 });
  // @ts-expect-error -- without a filter, any event may come
  const { petId }: OrderConfirmedEvent["data"] = (await any.next()).value.data;
  expect(petId).toBeUndefined();
  await Promise.all([all.return(undefined as never), any.return(undefined as never)]);
  const numbers = petstore as unknown as Client<"number">;
  const [event] = await numbers.listEvents({ type: ["pet.created", "pet.updated"] }).toArray({ max: 1 });
  const type: "pet.created" | "pet.updated" | undefined = event?.type;
  const id: number | undefined = event?.id;
  expect([type, id]).not.toContain(undefined);
});

export const sellerOf = ({ data: { confirmedBy, petName } }: OrderConfirmedEvent): string => confirmedBy.name + petName;

test("a sale has what a sale has", async () => {
  const { petName, confirmedAt, seller } = await petstore.placeStoreOrder({ petId: 7, confirm: true });
  const [name, moment, who]: readonly [string, string, string] = [petName, confirmedAt, seller];
  expect([name, moment, who]).not.toContain(undefined);
  const placed = await petstore.placeStoreOrder({ petId: 7 });
  // @ts-expect-error -- a reservation is no sale
  const none: string = placed.petName;
  expect(none).toBeUndefined();
});

test("what has no tag cannot be given as `ifMatch`", async () => {
  const [item = { id: 7n, name: "Rex", categoryId: 1n }] = await petstore.listPets().page();
  // @ts-expect-error -- an item of a list has no tag
  const refused = petstore.updatePet(item.id, { name: "Max" }, { ifMatch: item });
  expect(await refused.catch(String)).toContain("`ifMatch` needs an ETag or a result with one.");
});
