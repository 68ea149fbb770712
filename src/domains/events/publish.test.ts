import { expect, test } from "bun:test";
import { addToFigure, type LockedShop } from "../shops/figures.ts";
import { operator } from "./author.ts";
import { publish } from "./publish.ts";

const newShop = (): LockedShop => ({ shop: 1, at: 0, ahead: 0, lastEventId: 7n, changes: {} });

test("figures cannot be recorded without an event", () => {
  const shop = newShop();
  addToFigure(shop, "added");
  expect(() => publish(shop, operator(1), [])).toThrow("Figures were recorded");
});

test("nothing is published without events and figures", () => {
  const shop = newShop();
  addToFigure(shop, "added", 0);
  expect(publish(shop, operator(1), []).next([])).toMatchObject({ done: true });
});
