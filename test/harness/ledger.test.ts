// The check is checked: whatever may go wrong with an acknowledged animal must be noticed.
import { beforeEach, describe, expect, test } from "bun:test";
import { Ledger, readExactly, type ShownAnimal } from "./ledger.ts";

const rex = { name: "Rex", categoryId: "9007199254740993", status: "sold" };
const ida = { name: "Ida", categoryId: "-1" };

let ledger: Ledger;
beforeEach(() => {
  ledger = new Ledger();
  ledger.send(rex);
  ledger.send(ida);
  ledger.acknowledge(rex, { id: "1", ...rex });
});

/** What is found by a look at the store after a restart. */
function look(...shown: ShownAnimal[]): string[] {
  for (const animal of shown) ledger.see(animal);
  ledger.settle();
  return ledger.violations;
}

describe("the ledger accepts", () => {
  test("an animal as it was sent and acknowledged", () => {
    expect(look({ id: "1", ...rex }, { id: "2", ...ida })).toEqual([]);
  });

  test("a missing animal that was never acknowledged", () => {
    expect(look({ id: "1", ...rex })).toEqual([]);
  });

  test("an animal that is present at every check", () => {
    look({ id: "1", ...rex });
    ledger.expectAllAgain();
    expect(look({ id: "1", ...rex })).toEqual([]);
  });
});

describe("the ledger reports", () => {
  test.each<[string, ShownAnimal[], string]>([
    ["an acknowledged animal that is missing", [], "was acknowledged and is missing"],
    ["a changed number", [{ id: "1", ...rex, categoryId: "9007199254740992" }], "is there as"],
    ["a lost field", [{ id: "1", name: rex.name, categoryId: rex.categoryId }], "is there as"],
    [
      "an animal that is there twice",
      [
        { id: "1", ...rex },
        { id: "3", ...rex },
      ],
      "has two ids, 1 and 3",
    ],
    [
      "an animal that nobody sent",
      [
        { id: "1", ...rex },
        { id: "2", ...ida, name: "Tom" },
      ],
      "an unknown animal is there",
    ],
    [
      "an id that was given twice",
      [
        { id: "1", ...rex },
        { id: "1", ...ida },
      ],
      "the id 1 was given twice",
    ],
  ])("%s", (_what, shown, violation) => {
    expect(look(...shown)).toEqual([expect.stringContaining(violation)]);
  });

  test("an acknowledgement that differs from the request", () => {
    ledger.acknowledge(ida, { id: "2", ...ida, categoryId: "1" });
    expect(ledger.violations).toEqual([expect.stringContaining("was acknowledged as")]);
  });

  test("an animal that was absent after one kill and is present after the next", () => {
    look({ id: "1", ...rex });
    expect(look({ id: "2", ...ida })).toEqual([expect.stringContaining("was gone and is there again")]);
  });

  test("an animal that was present and is absent at a later check", () => {
    look({ id: "1", ...rex }, { id: "2", ...ida });
    expect(ledger.expectAllAgain()).toBe(2);
    expect(look({ id: "1", ...rex })).toEqual([expect.stringContaining("is missing")]);
  });
});

test("integers are read exactly", () => {
  expect(readExactly('[{"id":9223372036854775807,"n":1.0}]')).toEqual([{ id: "9223372036854775807", n: "1.0" }]);
});
