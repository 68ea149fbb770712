// It fails outside its only test, which passes.
import { afterAll, test } from "bun:test";

afterAll(async () => {
  void Promise.reject(new Error("No."));
  await Bun.sleep(20);
});

test("passes", () => {});
