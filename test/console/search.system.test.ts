// The search of everything: by pointer, by keyboard, on a telephone, and what it asks the service.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { pressFor, TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Search", exact: true });
const optionOf = (page: Page, name: string | RegExp) => dialogOf(page).getByRole("option", { name });

/** Opens the search and enters a text at once: who types slowly pauses, and asks twice. */
async function search(page: Page, text: string): Promise<void> {
  await pressFor(page, "Control+k", "Search");
  await dialogOf(page).getByRole("combobox").fill(text);
}

describe.skipIf(!hasBrowser)("the search", () => {
  let ui: TestConsole;
  let small: TestConsole;
  let rex: number;
  beforeAll(async () => {
    ui = await TestConsole.start();
    small = await TestConsole.start({ width: 390 });
    for (const one of [ui, small]) {
      await one.addCategory("Dogs");
      await one.addCategory("Sea birds");
    }
    rex = await ui.addPet({ name: "Rex", status: "available" });
  });
  afterAll(async () => {
    await ui.stop();
    await small.stop();
  });

  const place = async (body: object) =>
    (await ui.service.call("POST", "/store/orders", { key: ui.key, body })).json.id as number;

  test("finds an animal by name and by id, with its category and state", async () => {
    const held = await ui.addPet({ name: "<b>Held</b>", categoryId: 2, status: "available" });
    await place({ petId: held });
    const page = await ui.open("/usage");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.keyboard.insertText("<B>h");
    await optionOf(page, `<b>Held</b> Sea birds · ${held} Reserved`).click();
    await page.waitForURL(new RegExp(`/animals/${held}$`));
    await search(page, String(rex));
    await optionOf(page, `Rex Dogs · ${rex} Available`).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Rex" }).waitFor();
    await ui.leave(page);
  });

  test("finds orders by the beginning of their reference and by id, and leaves no failed request", async () => {
    const petId = await ui.addPet({ name: "Bella", status: "available" });
    const order = await place({ petId, reference: "Till 7" });
    const page = await ui.open("/keys");
    await search(page, "ill 7");
    await dialogOf(page).getByText("Nothing has this name, number or reference.").waitFor();
    await dialogOf(page).getByRole("combobox").fill("till");
    await optionOf(page, `Till 7 Order ${order} Reserved`).click();
    await page.getByRole("heading", { name: "Till 7" }).waitFor();
    await search(page, String(order));
    await optionOf(page, `Till 7 Order ${order} Reserved`).waitFor();
    await dialogOf(page).getByRole("combobox").fill(`order ${order}`);
    await optionOf(page, `Till 7 Order ${order} Reserved`).waitFor();
    await dialogOf(page).getByRole("combobox").fill("");
    await ui.service.call("POST", `/store/orders/${order}/cancel`, { key: ui.key });
    const other = await place({ petId, reference: String(order) }); // whose reference is the id of the first
    await dialogOf(page).getByRole("combobox").fill(String(order));
    await optionOf(page, `Till 7 Order ${order} Cancelled`).waitFor();
    await optionOf(page, `${order} Order ${other} Reserved`).waitFor();
    await ui.service.call("POST", `/store/orders/${other}/cancel`, { key: ui.key });
    const sold = await place({ petId, confirm: true });
    await dialogOf(page).getByRole("combobox").fill(String(sold));
    await optionOf(page, `Order ${sold} Bella Sold`).waitFor();
    for (const text of ["987654321", "9".repeat(18), "9".repeat(40), "🐕", "%", "x".repeat(64)]) {
      await dialogOf(page).getByRole("combobox").fill(text);
      await dialogOf(page).getByText("Nothing has this name, number or reference.").waitFor();
    }
    ui.service.clock.advance(1_000); // few requests of a second are recorded
    await ui.service.call("GET", "/store/orders/987654321", { key: ui.key });
    const failed = await eventually(
      () => ui.service.call("GET", "/requests?status=4xx", { key: ui.key }), // they are written in batches
      ({ json }) => json.length > 0,
    );
    expect(failed.json.map(({ path }: { path: string }) => path)).toEqual(["/store/orders/987654321"]);
    await ui.leave(page);
  });

  test("asks the service twice for a text or a number", async () => {
    const page = await ui.openLive();
    await pressFor(page, "/", "Search");
    await dialogOf(page).getByRole("option").first().waitFor();
    await page.locator(":root:has(.skeleton)").waitFor({ state: "detached" });
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.keyboard.insertText("re");
    await page.keyboard.insertText("x");
    await optionOf(page, /^Rex/).waitFor();
    expect(asked.toSorted()).toEqual(["/v1/pets", "/v1/store/orders"]);
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(String(rex));
    await optionOf(page, `Rex Dogs · ${rex} Available`).waitFor();
    await eventually(
      async () => asked.length,
      (length) => length >= 4,
    );
    expect(asked.splice(2).toSorted()).toEqual(["/v1/pets", "/v1/store/orders"]);
    await page.close();
  });

  test("finds pages, categories and actions by the beginnings of their words, by keyboard alone", async () => {
    const page = await ui.open("/orders");
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    await search(page, "add");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Add an animal" }).waitFor();
    await page.keyboard.press("Escape");
    await search(page, "bi");
    await optionOf(page, "Sea birds Category").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/animals\?category=2$/);
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    await page.getByLabel("Search by name, number or reference").focus();
    await search(page, "s");
    const selected = dialogOf(page).getByRole("option", { selected: true });
    expect(await selected.innerText()).toStartWith("Keyboard shortcuts");
    const labels = () => dialogOf(page).getByRole("option").allInnerTexts();
    await eventually(labels, (all) => all.some((label) => label.startsWith("Sea birds")));
    await page.keyboard.press("ArrowUp");
    const last = (await labels()).at(-1) as string;
    expect(await selected.innerText()).toBe(last);
    for (const _ of ["first", "second"]) await page.keyboard.press("ArrowDown");
    expect(await selected.innerText()).toStartWith("Sell");
    const active = await dialogOf(page).getByRole("combobox").getAttribute("aria-activedescendant");
    expect(await selected.getAttribute("id")).toBe(active);
    await page.keyboard.press("Enter");
    const selling = page.getByRole("dialog", { name: "Sell" });
    await selling.getByLabel("Animal").waitFor();
    await page.keyboard.press("Escape");
    await selling.waitFor({ state: "detached" });
    await pressFor(page, "Control+k", "Search"); // the field has the focus again, in which "/" is a character
    await page.keyboard.press("Escape");
    await dialogOf(page).waitFor({ state: "detached" });
    await ui.leave(page);
  });

  test("offers only what the key permits", async () => {
    const page = await ui.open("/animals", { key: await ui.keyWith("read") });
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    await pressFor(page, "/", "Search");
    await optionOf(page, /^Orders/).waitFor();
    for (const name of [/^Sell/, /^Add/, /^Create/, /^Keys/]) expect(await optionOf(page, name).count()).toBe(0);
    await page.close();
  });

  test("says until when it waits if a limit is used up", async () => {
    const page = await ui.open("/usage");
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.route(/\/v1\/(pets|store)/, (route) =>
      route.continue({ headers: { ...route.request().headers(), "petstore-simulate": "rate_limit_exceeded" } }),
    );
    await search(page, "rex");
    await dialogOf(page)
      .getByText(/used up/)
      .waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await ui.leave(page);
  });

  test("axe-core reports nothing, wide or on a telephone", async () => {
    for (const one of [ui, small]) {
      await one.addPet({ name: "Ada".repeat(80) });
      const page = await one.open("/animals");
      expect(await accessibilityViolations(page)).toEqual([]);
      await page.getByRole("button", { name: "Search", exact: true }).click();
      await dialogOf(page).getByRole("combobox").fill("ada");
      await optionOf(page, /^Ada/).first().waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      await optionOf(page, /^Ada/).first().click();
      await page.waitForURL(/\/animals\/\d+$/);
      await one.leave(page);
    }
  });
});
