import { expect, test } from "bun:test";
import { plain, plainLines, table } from "./output.ts";

test("escapes whatever a terminal could interpret", () => {
  const [hostile, escaped] = ["\u001b\u0085\u2028\u2029\u202e\u2066", String.raw`\u001b\u0085\u2028\u2029\u202e\u2066`];
  expect(plain(`Rex\n${hostile}`)).toBe(String.raw`Rex\u000a${escaped}`);
  expect(plainLines(`Rex\n\t${hostile}`)).toBe(`Rex\n\t${escaped}`);
  expect(table(["NAME"], [[hostile]])).toBe(`NAME\n${escaped}`);
});

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
