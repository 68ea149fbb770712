// The check is checked: whatever may go wrong with an animal and its orders must be noticed.
import { beforeEach, describe, expect, test } from "bun:test";
import type { ShownAnimal } from "../harness/ledger.ts";
import { ShopLedger, type ShownOrder, type TrackedPet } from "./shop-ledger.ts";

const rex = { name: "shop 1", categoryId: "9007199254740993", status: "available" };
const reserved = { ...rex, status: "pending" };
const shown = (animal = rex): ShownAnimal => ({ id: "1", ...animal });
const order = (status: string, id = "7"): ShownOrder => ({ id, petId: "1", status });

let ledger: ShopLedger;
let pet: TrackedPet;
let claimed: string[];
beforeEach(() => {
  claimed = [];
  ledger = new ShopLedger((id, name) => claimed.push(`${id} ${name}`));
  pet = ledger.begin();
  ledger.ask(pet, { animal: rex, orders: [] });
  ledger.acknowledge(pet, [shown()]);
});

/** What is found by a look at the store after a kill. */
function look(animals: ShownAnimal[], orders: ShownOrder[] = []): string[] {
  ledger.look(animals, orders);
  return ledger.violations;
}
const place = () => ledger.ask(pet, { animal: reserved, orders: ["placed"] });
const remove = () => ledger.ask(pet, { animal: undefined, orders: [] });

describe("the ledger accepts", () => {
  test("an animal as it was acknowledged", () => {
    expect(look([shown()])).toEqual([]);
    expect([ledger.present, claimed]).toEqual([1, ["1 shop 1", "1 shop 1"]]);
  });

  test("an order that was not acknowledged, complete or absent", () => {
    place();
    expect(look([shown()])).toEqual([]);
    place();
    expect(look([shown(reserved)], [order("placed")])).toEqual([]);
    expect(pet.orderIds).toEqual(["7"]);
  });

  test("a deletion, acknowledged or not", () => {
    remove();
    expect(look([])).toEqual([]);
    expect(ledger.present).toBe(0);
  });
});

describe("the ledger reports", () => {
  test("a lost acknowledged change", () => {
    place();
    ledger.acknowledge(pet, [order("placed")]);
    expect(look([shown()])).toEqual([
      expect.stringContaining("must be"),
      expect.stringContaining('had other orders: ["7"]'),
    ]);
  });

  test.each<[string, ShownAnimal[], ShownOrder[]]>([
    ["an order without its animal's status", [shown()], [order("placed")]],
    ["a status without its order", [shown(reserved)], []],
    ["two open orders", [shown(reserved)], [order("placed"), order("placed", "8")]],
    ["an animal that is gone", [], []],
    ["another category", [shown({ ...rex, categoryId: "1" })], []],
    ["a deletion that was not asked for", [], [order("placed")]],
  ])("%s, if the order was not acknowledged", (_what, animals, orders) => {
    place();
    expect(look(animals, orders)).toEqual([expect.stringMatching(/^shop 1 .* must be .* or, whole, .*, and is /)]);
  });

  test("a deleted animal that is back, at any later check", () => {
    remove();
    ledger.acknowledge(pet, []);
    look([]);
    expect(look([shown()])).toEqual([expect.stringContaining("must be")]);
  });

  test("a change that was absent after one kill and is present after the next", () => {
    place();
    look([shown()]);
    expect(look([shown(reserved)], [order("placed")])).toEqual([expect.stringContaining("must be")]);
  });

  test("a duplicate animal, a changed id, and an unknown animal", () => {
    expect(look([shown(), { ...shown(), id: "2" }])).toEqual(["shop 1 is there twice"]);
    expect(look([{ ...shown(), id: "3" }]).at(-1)).toContain('has another id: "3"');
    expect(look([shown(), { ...shown(), name: "shop 9" }])).toContain("an unknown animal is there: shop 9");
    expect(look([shown()], [{ ...order("placed"), petId: "5" }]).at(-1)).toBe(
      "orders for 5 are there, which nobody sent",
    );
  });

  test("a response that differs from the request", () => {
    place();
    ledger.acknowledge(pet, [order("expired")]);
    expect(ledger.violations).toEqual([expect.stringContaining("was acknowledged as")]);
    ledger.ask(pet, { animal: reserved, orders: ["placed"] });
    ledger.acknowledge(pet, [shown()]);
    expect(ledger.violations).toHaveLength(2);
  });
});
