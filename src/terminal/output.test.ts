import { expect, test } from "bun:test";
import { table } from "./output.ts";

test("aligns columns by the width of their characters", () => {
  expect(
    table(
      ["ID", "NAME"],
      [
        ["1", "Rex"],
        ["234", "猫"],
      ],
    ),
  ).toBe("ID   NAME\n1    Rex\n234  猫");
});

test("has room for the accounts of a large store", () => {
  const ids = Array.from({ length: 1_000_000 }, (_, index) => [String(index)]);
  expect(table(["ID"], ids).length).toBe("ID".length + ids.reduce((sum, [id = ""]) => sum + 1 + id.length, 0));
});
