import { expect, test } from "bun:test";
import { shopNumber } from "../../contract/caller.ts";
import { orderPlaced } from "../orders/orders.operations.ts";
import { petsAdded } from "../pets/counts/pet-figures.ts";
import { petCreated, petDeleted, petUpdated } from "../pets/pets.operations.ts";
import type { Pet } from "../pets/pets.schemas.ts";
import { addToFigure, lockedShop } from "../shops/locked-shop.ts";
import { eventsOf } from "./new-event.ts";
import { operator, publish } from "./publish.ts";

const newShop = () => lockedShop({ shop: shopNumber(1), now: 0, day: 0n, at: 0, lastEventId: 7n, changes: new Map() });

test("figures cannot be recorded without an event", () => {
  const shop = newShop();
  addToFigure(shop, petsAdded);
  expect(() => publish(shop, operator(shopNumber(1)), [])).toThrow("Figures were recorded");
});

test("nothing is published without events and figures", () => {
  const shop = newShop();
  addToFigure(shop, petsAdded, 0);
  expect(publish(shop, operator(shopNumber(1)), []).next([])).toMatchObject({ done: true });
});

test("an event is made of what its type declares", () => {
  const event = eventsOf<Pet>(({ id }) => ({ under: id, subjectId: null }));
  const before: Pet = { id: 1n, name: "Rex", categoryId: 1n };
  const after: Pet = { ...before, status: "sold" };
  const [data, whole] = [
    '{"id":1,"name":"Rex","categoryId":1,"status":"sold"}',
    '{"id":1,"name":"Rex","categoryId":1}',
  ];
  expect(event(petCreated, after)).toMatchObject({ data, previous: null });
  expect(event(petUpdated, after, before)).toMatchObject({ data, previous: '{"status":null}' });
  expect(event(petDeleted, before)).toMatchObject({ data: null, previous: whole });
  // @ts-expect-error -- the resource before the change is missing
  event(petUpdated, after);
  // @ts-expect-error -- a new animal was nothing before
  event(petCreated, after, before);
  // @ts-expect-error -- an order is no animal
  event(orderPlaced, after);
  // @ts-expect-error -- nothing else makes events
  publish(newShop(), operator(1), [{ type: petCreated, under: 1n, subjectId: null, data, previous: null }]);
});
