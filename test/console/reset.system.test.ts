// After a reset of the sandbox, nothing that was begun or shown before it reaches the new animals, which have the same ids.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { hasBrowser } from "../harness/browser.ts";
import { correctStatus, remove, TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const undo = (page: Page) => page.getByRole("button", { name: /^Undo/ });

const resetOn = async (page: Page) => {
  await page.keyboard.type("gs");
  await button(page, "Reset").click();
  await page.getByRole("dialog").getByRole("button", { name: "Reset the sandbox" }).click();
  await page.getByText("Sandbox reset").waitFor();
};

describe.skipIf(!hasBrowser)("after a reset of the sandbox", () => {
  let ui: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
  });
  afterAll(() => ui.stop());

  const call = (method: string, path: string, body?: unknown) =>
    ui.service.call(method, path, { key: ui.key, ...(body !== undefined && { body }) });
  const reset = (animals: string) => call("POST", "/sandbox/reset", { animals });
  const animals = async (): Promise<{ id: number; name: string }[]> => (await call("GET", "/pets")).json;

  beforeEach(async () => {
    ui.service.clock.advance(60_000); // at most 20 requests a minute about a sandbox are admitted
    await reset("samples");
    await Promise.all(Array.from({ length: 20 }, () => ui.addCategory(crypto.randomUUID()))); // its log is the longer one
  });

  test("a deletion that can still be undone is dropped", async () => {
    const before = await animals();
    const { id, name } = before[2] as (typeof before)[number];
    const page = await ui.openLive("/animals");
    await remove(page, name);
    await link(page, name).waitFor({ state: "detached" });
    await undo(page).waitFor();
    await resetOn(page);
    expect(await undo(page).count()).toBe(0);
    await page.keyboard.type("ga");
    await link(page, name).waitFor();
    await page.evaluate('dispatchEvent(new Event("pagehide"))');
    await page.keyboard.type("go");
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    expect((await animals()).map((pet) => pet.id)).toContain(id);
    await ui.leave(page);
  });

  test("by another program, a change cannot be undone", async () => {
    await ui.addPet({ name: "Ida", status: "available" });
    const page = await ui.openLive("/animals");
    await correctStatus(page, "Ida", "Sold");
    await undo(page).waitFor();
    await reset("samples");
    await undo(page).waitFor({ state: "detached" });
    await ui.leave(page);
  });

  test("the rest of a change of many animals is not made, and what was made cannot be undone", async () => {
    for (const name of ["Ida", "Kim", "Max", "Ben", "Tim", "Pia"]) await ui.addPet({ name, status: "available" });
    const page = await ui.openLive("/animals?sort=id");
    const held = Promise.withResolvers<void>();
    let changes = 0;
    await page.route(/\/v1\/pets\/\d+$/, async (route) => {
      changes++;
      await held.promise;
      await route.continue();
    });
    await page.getByLabel("Select all on this page").check();
    await button(page, "Delete…").click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Delete \d/ })
      .click();
    await button(page, "Dismiss").click(); // now it cannot be undone any more, and begins
    await eventually(() => changes === 4);
    await resetOn(page);
    let ended = 0;
    page.on("response", (response) => void (response.request().method() === "DELETE" && ended++));
    held.resolve();
    await eventually(() => ended === 4);
    await page.keyboard.type("ga");
    await link(page, "Nemo").waitFor();
    expect([changes, await undo(page).count()]).toEqual([4, 0]);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  test("orders are shown with the names of the new animals", async () => {
    const [{ id }] = (await call("GET", "/pets?status=available")).json;
    await call("PATCH", `/pets/${id}`, { name: "Zoe" });
    await call("POST", "/store/orders", { petId: id });
    const page = await ui.openLive("/orders?status=all");
    await link(page, "Zoe").waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(/\/v1\/events\/stream/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await reset("samples");
    await call("PATCH", `/pets/${id}`, { name: "Rex" });
    await call("POST", "/store/orders", { petId: id });
    held.resolve();
    await link(page, "Rex").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await ui.leave(page);
  });
});
