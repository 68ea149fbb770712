// Numbers, dates and CSV in the language of the browser; and requests that end with their session.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { NOON } from "../harness/manual-clock.ts";

describe.skipIf(!hasBrowser)("the console in a browser", () => {
  let ui: TestConsole;
  const call = (method: string, path: string, body?: unknown) => ui.service.call(method, path, { key: ui.key, body });
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
    await call("PATCH", "/shop", { currency: "EUR" });
  });
  afterAll(() => ui.stop());

  test("in German writes numbers and days as Germans do, and a file that their Excel opens", async () => {
    const petId = await ui.addPet({ name: "Rex", status: "available" });
    const sale = { petId, confirm: true, price: { amount: 124_050, currency: "EUR" } };
    const { id } = (await call("POST", "/store/orders", sale)).json;
    const browser = await TestBrowser.start({ width: 1280, height: 900 }, "", "de-DE");
    const page = await browser.open("about:blank");
    await page.clock.setFixedTime(ui.service.clock.now());
    await page.goto(`${ui.origin}/console#key=${ui.key}`);
    await page.getByText("Samstag, 21. November").waitFor();
    await page
      .getByRole("link", { name: /^Sold today/ })
      .getByText("1.240,50 EUR")
      .waitFor();
    await page.goto(`${ui.origin}/console/sales`);
    await page.getByRole("cell", { name: "1.240,50 EUR" }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const [head, line] = readFileSync(await download.path(), "utf8").split("\r\n");
    expect(head).toBe("\uFEFFsold (UTC);order;animal;animal number;category;seller;reference;price;currency;returned");
    expect(line).toBe(`2026-11-21 12:00:00;${id};Rex;${petId};Dogs;test;;"1240,50";EUR;`);
    await browser.stop();
  });

  test("that signs out ends the requests that are in flight, and reports nothing of them", async () => {
    expect(ui.service.clock.now()).toBe(NOON);
    const page = await ui.open("/orders");
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    await page.route(/\/v1\/categories/, () => {}); // never a response
    const asked = page.waitForRequest(/\/v1\/categories/);
    await page.keyboard.type("gc");
    const held = await asked;
    const failed = page.waitForEvent("requestfailed", (request) => request === held);
    await page.getByRole("button", { name: "Sign out" }).click();
    expect((await failed).failure()?.errorText).toContain("ERR_ABORTED");
    await page.getByLabel("API key").waitFor();
    expect(await page.locator(".toast, [role=alert]").count()).toBe(0);
    await page.close();
  });
});
