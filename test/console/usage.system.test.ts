// The charts of the usage: exact values by pointer, by keyboard and as a table.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";

const plot = (page: Page) => page.getByRole("slider", { name: "Requests over time" });
const told = (page: Page) => page.locator(".chart output");
const operation = (page: Page, name: string) =>
  page.getByRole("table", { name: "Requests by operation" }).getByRole("row").filter({ hasText: name });

describe.skipIf(!hasBrowser)("the page of the usage", () => {
  let ui: TestConsole;
  let small: TestConsole;
  let till: string;
  beforeAll(async () => {
    ui = await TestConsole.start();
    small = await TestConsole.forService(ui.service, ui.key, 390);
    const send = (method: string, path: string, body?: unknown, key = ui.key) =>
      ui.service.call(method, path, { key, ...(body !== undefined && { body }) });
    till = (await send("POST", "/keys", { name: "<b>till</b>", scopes: ["read"] })).json.key;
    await send("POST", "/pets", { name: "", categoryId: 1 });
    const id = await ui.addPet({ name: "Rex" });
    for (let count = 0; count < 3; count++) await send("GET", `/pets/${id}`, undefined, till);
    ui.service.clock.advance(2 * 3_600_000);
    for (let count = 0; count < 1_200; count++) await send("GET", "/pets?limit=1", undefined, till);
  });
  afterAll(async () => {
    await small.browser.stop();
    await ui.stop();
  });

  /** The clock of the page is that of the service. */
  const open = async (path = "/usage", one = ui) => {
    const page = await one.open(path);
    await plot(page).waitFor(); // now it is signed in, and stays so
    await page.clock.setFixedTime(one.service.clock.now());
    await page.reload();
    await plot(page).waitFor();
    return page;
  };

  test("tells exact values by pointer", async () => {
    const page = await open();
    await told(page).getByText("requests in all").waitFor();
    const box = await plot(page).boundingBox();
    const { x = 0, y = 0, width = 0, height = 0 } = box ?? {};
    const at = (bar: number) => page.mouse.move(x + (width * (bar + 0.5)) / 48, y + height / 2);
    await at(45); // two hours ago
    await told(page)
      .getByText(/12:00: \d+ requests, \d+ succeeded, 1 rejected, 0 failed/)
      .waitFor();
    await at(46);
    await told(page).getByText("13:00: 0 requests").waitFor();
    await page.mouse.move(x, y + height + 200);
    await told(page).getByText("requests in all").waitFor();
    await page.close();
  });

  test("tells exact values by keyboard, and as a table", async () => {
    const page = await open();
    await told(page).getByText("requests in all").waitFor();
    await plot(page).focus();
    await page.keyboard.press("End");
    await told(page)
      .getByText(/14:00: 1,2\d\d requests/)
      .waitFor();
    expect(await plot(page).getAttribute("aria-valuetext")).toMatch(/14:00: 1,2\d\d requests, 1,2\d\d succeeded/);
    for (const _ of ["one hour", "two hours"]) await page.keyboard.press("ArrowLeft");
    await told(page)
      .getByText(/12:00: .* 1 rejected/)
      .waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Requests over time" }).getByRole("row", { name: /12:00/ }).waitFor();
    await page.close();
  });

  test("marks deprecated operations, and tells which key calls them", async () => {
    const page = await open();
    await operation(page, "getPet").getByText("Deprecated").waitFor();
    const keys = page.getByRole("table", { name: "Deprecated operations by key" });
    await keys
      .getByRole("row", { name: /<b>till<\/b>/ })
      .getByText("3", { exact: true })
      .waitFor();
    await page.close();
  });

  test("tells which of two keys with the same name calls a deprecated operation", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]);
    const hints: string[] = [];
    for (const calls of [1, 2]) {
      const body = { name: "Till", scopes: ["read"] };
      const { json } = await ui.service.call("POST", "/keys", { key, body });
      hints.push(json.key.slice(-4));
      for (let count = 0; count < calls; count++) await ui.service.call("GET", "/pets/1", { key: json.key });
    }
    const page = await ui.open("/usage", { key });
    const keys = page.getByRole("table", { name: "Deprecated operations by key" });
    for (const [index, hint] of hints.entries()) {
      const row = keys.getByRole("row").filter({ hasText: `Till …${hint}` });
      await row.getByRole("cell", { name: String(index + 1), exact: true }).waitFor();
    }
    await page.close();
  });

  test("shows in all tables the time of the chart, and asks only about keys in use then", async () => {
    const quiet = await TestConsole.start();
    const newKey = (name: string) =>
      quiet.service.call("POST", "/keys", { key: quiet.key, body: { name, scopes: ["read"] } });
    const [early, used, ended, unused] = (await Promise.all(["early", "used", "ended", "unused"].map(newKey))).map(
      ({ json }) => json,
    );
    const use = (path: string, key: string) => quiet.service.call("GET", path, { key });
    await use("/pets/1", early.key);
    quiet.service.clock.advance(5 * 86_400_000);
    for (const { key } of [used, ended]) await use("/pets?limit=1", key);
    await quiet.service.call("DELETE", `/keys/${ended.id}`, { key: quiet.key });

    const page = await open("/usage", quiet);
    const deprecated = page.getByRole("table", { name: "Deprecated operations by key" });
    await operation(page, "listPets").getByText("2", { exact: true }).first().waitFor();
    expect([await operation(page, "getPet").count(), await deprecated.count()]).toEqual([0, 0]);

    await use("/pets/1", used.key);
    await page.reload();
    await deprecated.getByRole("row", { name: /^used/ }).getByRole("cell", { name: "1", exact: true }).waitFor();
    expect(await deprecated.getByRole("row").count()).toBe(2);
    const asked = quiet.browser.requests.filter((address) => /\/v1\/usage\?.*keyId/.test(address)).join();
    expect([early, used, ended, unused].map(({ id }) => asked.includes(id))).toEqual([false, true, false, false]);

    await page.getByRole("button", { name: "30 days" }).click();
    await deprecated.getByRole("row", { name: "early" }).waitFor();
    await operation(page, "getPet").getByText("2", { exact: true }).first().waitFor();
    await page.close();
    await quiet.stop();
  });

  test("alone says that too many requests about the usage were sent", async () => {
    const page = await open();
    await page.route(/\/v1\/usage/, (route) =>
      route.fulfill({ status: 429, headers: { "Retry-After": "60" }, json: { code: "rate_limit_exceeded" } }),
    );
    const banner = page.getByText("Too many requests.");
    await page.getByRole("button", { name: "30 days" }).click();
    await banner.waitFor();
    await page.route(/\/v1\/(?!usage)/, () => {}); // a response would end it
    await page.keyboard.type("ga");
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    expect(await banner.count()).toBe(0);
    await page.keyboard.type("gu");
    await banner.waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  test("counts by key, by operation and over other times, all of which are in the address", async () => {
    const page = await open();
    await page.getByLabel("Key", { exact: true }).selectOption("<b>till</b>");
    await told(page).getByText("1,203 requests in all").waitFor();
    await page.getByLabel("Operation", { exact: true }).selectOption("getPet");
    await told(page).getByText("3 requests in all").waitFor();
    await page.getByRole("button", { name: "30 days" }).click();
    await told(page).getByText("3 requests in all", { exact: true }).waitFor();
    expect(page.url()).toMatch(/\?key=key_\w+&operation=getPet&span=month$/);
    await page.close();
    const other = await open("/usage?span=constructor");
    await told(other)
      .getByText(/^[1-9][\d,]* requests in all$/)
      .waitFor();
    await other.close();
  });

  test("axe-core reports nothing, and all fits a telephone", async () => {
    for (const one of [ui, small]) {
      const page = await open("/usage", one);
      await page.getByRole("table", { name: "Deprecated operations by key" }).getByText("getPet").waitFor();
      await page.getByText("Show as a table").click();
      await plot(page).focus();
      await page.keyboard.press("End");
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await page.close();
    }
  });
});
