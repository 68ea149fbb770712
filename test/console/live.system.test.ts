// What happens elsewhere is shown without a reload, and nothing is missed when the connection was lost.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole, untilLive } from "../harness/console.ts";
import { untilMetric } from "../harness/metrics.ts";

const link = (page: Page, name: string) => page.locator("table").getByRole("link", { name, exact: true });

const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`{
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }`);
const eventsOf = (page: Page, hasText: string) => page.getByLabel("Events").getByRole("listitem").filter({ hasText });

describe.skipIf(!hasBrowser)("the console", () => {
  let ui: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
  });
  afterAll(() => ui.stop());

  const call = (method: string, path: string, body?: unknown) => ui.service.call(method, path, { key: ui.key, body });

  test("shows animals that others add, change and delete", async () => {
    const id = await ui.addPet({ name: "Rex", status: "available" });
    const page = await ui.open();
    await untilLive(page);
    await page.keyboard.type("ga");
    await link(page, "Rex").waitFor();
    await call("PATCH", `/pets/${id}`, { name: "Rex II", status: "sold" });
    await link(page, "Rex II").waitFor();
    await page.getByRole("row").filter({ hasText: "Rex II" }).getByText("Sold").waitFor();
    await ui.addPet({ name: "Bella" });
    await link(page, "Bella").waitFor();
    await call("DELETE", `/pets/${id}`);
    await link(page, "Rex II").waitFor({ state: "detached" });
    await ui.leave(page);
  });

  test("says in the form of an animal that another user has deleted it", async () => {
    const id = await ui.addPet({ name: "Max" });
    const page = await ui.openLive(`/animals/${id}`);
    await page.getByRole("button", { name: "More for Max" }).click();
    await page.getByRole("button", { name: "Edit Max" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Maximilian");
    await call("DELETE", `/pets/${id}`);
    await page.getByLabel("History").getByText("deleted").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(`No animal has the id ${id}.`).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("No animal has this number.").waitFor();
    await ui.leave(page);
  });

  test("shows the new category of animals whose category another user deletes", async () => {
    const cats = await ui.addCategory("Cats");
    await ui.addPet({ name: "Tom", categoryId: cats });
    const page = await ui.openLive("/animals");
    const row = page.getByRole("row", { name: /Tom/ });
    await row.getByRole("cell", { name: "Cats" }).waitFor();
    await call("DELETE", `/categories/${cats}?moveTo=1`);
    await row.getByRole("cell", { name: "Dogs" }).waitFor();
    await ui.leave(page);
  });

  test("is not live before its stream is open, nor while the shop has too many streams", async () => {
    const page = await ui.browser.open("about:blank");
    const stream = /\/v1\/events\/stream/;
    const held = Promise.withResolvers<void>();
    await page.route(stream, async (route) => {
      await held.promise;
      await route.continue({ headers: { ...route.request().headers(), "petstore-simulate": "too_many_streams" } });
    });
    const requested = page.waitForRequest(stream);
    await page.goto(`${ui.origin}/console#key=${ui.key}`);
    await requested;
    await page.getByLabel("Events").getByRole("listitem").first().waitFor();
    const live = page.getByText("Live", { exact: true });
    expect(await live.count()).toBe(0);
    held.resolve();
    for (let refused = 0; refused < 2; refused++) {
      expect((await page.waitForResponse(stream)).status()).toBe(429);
      expect([await live.count(), await page.locator(".banner.bad").count()]).toEqual([0, 0]);
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await untilLive(page);
    await page.close();
  });

  test("shows events that came while the connection was lost, each once", async () => {
    const page = await ui.open();
    await untilLive(page);
    await page.context().setOffline(true);
    const id = await ui.addPet({ name: "Ida", status: "available" });
    await call("POST", "/store/orders", { petId: id, reference: "Till 4" });
    await page.context().setOffline(false);
    const events = page.getByLabel("Events").getByRole("listitem");
    const expected = ["added Ida", "reserved Ida · Till 4"].map((hasText) => events.filter({ hasText }));
    for (const event of expected) await event.first().waitFor();
    for (const event of expected) expect(await event.count()).toBe(1);
    await page.getByRole("region", { name: "Reserved now" }).getByText("Till 4").waitFor();
    await page.close();
  });

  test("holds no stream in a hidden tab, and shows what it missed when it is shown again", async () => {
    const streams = (expected: number) => untilMetric(ui.origin, "petstore_streams", expected);
    await streams(0);
    const pages: Page[] = [];
    for (let count = 0; count < 7; count++) {
      const page = await ui.open();
      pages.push(page);
      await streams(1);
      await untilLive(page);
      if (count === 6) break;
      await setHidden(page, true);
      await streams(0);
    }
    const [first, last] = [pages[0] as Page, pages[6] as Page];
    await ui.addPet({ name: "Seven" });
    await eventsOf(last, "Seven").waitFor();
    expect(await eventsOf(first, "Seven").count()).toBe(0);
    await setHidden(first, false);
    await eventsOf(first, "Seven").waitFor();
    expect(await eventsOf(first, "Seven").count()).toBe(1);
    for (const page of pages) await ui.leave(page);
  });

  test("shows the figures of the shop, and renews them", async () => {
    const page = await ui.open();
    const available = page.getByRole("region", { name: "The shop today" }).getByRole("link", { name: /^Available/ });
    const { json } = await call("GET", "/shop");
    await available.getByText(String(json.animals.available), { exact: true }).waitFor();
    await untilLive(page);
    await ui.addPet({ name: "Kim", status: "available" });
    await available.getByText(String(json.animals.available + 1), { exact: true }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.type("gc");
    await page
      .getByRole("row", { name: /Dogs/ })
      .getByRole("cell", { name: String(json.animals.total + 1) })
      .waitFor();
    await ui.leave(page);
  });
});
