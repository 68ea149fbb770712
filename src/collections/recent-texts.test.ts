import { expect, test } from "bun:test";
import { RecentTexts } from "./recent-texts.ts";

const texts = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name} ${index}`);
/** Notes all texts, and returns how many were known. */
const noteAll = (recent: RecentTexts, noted: readonly string[]) => noted.filter((text) => recent.note(text)).length;

test("a text is known from its second time on", () => {
  const recent = new RecentTexts();
  expect(["a", "b", "a", "b", "a"].map((text) => recent.note(text))).toEqual([false, false, true, true, true]);
});

test("nearly all of 10,000 texts are known when they are noted again in the same order", () => {
  const recent = new RecentTexts();
  const all = texts(10_000, "text");
  expect(noteAll(recent, all)).toBe(0);
  expect(noteAll(recent, all)).toBeGreaterThan(9_900);
});

test("nearly no text is known after 200,000 others", () => {
  const recent = new RecentTexts();
  const first = texts(1_000, "first");
  noteAll(recent, first);
  noteAll(recent, texts(200_000, "other"));
  expect(noteAll(recent, first)).toBeLessThan(20);
});
