import { expect, test } from "bun:test";
import { RecentTexts } from "./recent-texts.ts";

const texts = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name} ${index}`);

test("a text is known from its second time on", () => {
  const recent = new RecentTexts();
  expect(["a", "b", "a", "b", "a"].map((text) => recent.note(text))).toEqual([false, false, true, true, true]);
});

test("about half of the texts are known after 11,000 others, and nearly none after 100,000", () => {
  const recent = new RecentTexts();
  const noteAll = (noted: readonly string[]) => noted.filter((text) => recent.note(text)).length;
  const first = texts(1_000, "first");
  noteAll(first);
  noteAll(texts(11_000, "other"));
  const known = noteAll(first);
  expect(known).toBeGreaterThan(400);
  expect(known).toBeLessThan(600);
  noteAll(texts(100_000, "more"));
  expect(noteAll(first)).toBeLessThan(20);
});
