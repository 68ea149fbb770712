// The days of the shop: its time zone and currency, which an admin is offered, midnight, and hours.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { NOON } from "../harness/manual-clock.ts";

const MINUTE = 60_000;
const soldToday = (page: Page) => page.getByRole("link", { name: /^Sold today/ });
const settings = (page: Page) => page.getByRole("region", { name: "Settings of the shop" });

describe.skipIf(!hasBrowser)("the days of the shop", () => {
  let ui: TestConsole;
  const call = (method: string, path: string, body?: unknown) => ui.service.call(method, path, { key: ui.key, body });
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
  });
  beforeEach(() => ui.service.clock.setWall(NOON));
  afterAll(() => ui.stop());

  /** The clock of the page is that of the service, and runs with it. */
  async function open(path: string, zone: string) {
    const page = await ui.browser.open("about:blank");
    await page.clock.setFixedTime(ui.service.clock.now());
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Emulation.setTimezoneOverride", { timezoneId: zone });
    await page.goto(`${ui.origin}/console${path}#key=${ui.key}`);
    return page;
  }

  test("are those of the browser's zone, if the first admin agrees", async () => {
    const page = await open("", "Europe/Berlin");
    await settings(page).getByLabel("Time zone").waitFor();
    expect(await settings(page).getByLabel("Time zone").inputValue()).toBe("Europe/Berlin");
    expect(await settings(page).getByLabel("Currency").inputValue()).toBe("GBP"); // of the browser's language
    await settings(page).getByLabel("Currency").fill("XYZ");
    await settings(page).getByRole("button", { name: "Save" }).click();
    await settings(page).getByText(/EUR/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await settings(page).getByLabel("Currency").fill("eur");
    await settings(page).getByRole("button", { name: "Save" }).click();
    await settings(page).waitFor({ state: "detached" });
    expect((await call("GET", "/shop")).json).toMatchObject({ timeZone: "Europe/Berlin", currency: "EUR" });
    await page.reload();
    await soldToday(page).waitFor();
    expect(await settings(page).count()).toBe(0);
    await page.close();
  });

  test("are the same in every browser, and named where the browser has others", async () => {
    ui.service.clock.setWall(Date.parse("2026-11-22T23:30:00Z")); // the next day in Berlin
    const petId = await ui.addPet({ name: "Late", status: "available" });
    await call("POST", "/store/orders", { petId, confirm: true, price: { amount: 5_000, currency: "EUR" } });
    for (const zone of ["America/New_York", "Etc/Unknown", "Europe/Berlin"]) {
      const page = await open("", zone);
      await page.getByText("Monday 23 November").waitFor();
      await soldToday(page).getByText("50.00 EUR").waitFor();
      await page
        .getByRole("link", { name: /^Available/ })
        .getByText("1 added today")
        .waitFor();
      expect(await page.getByText("Days of Europe/Berlin").count()).toBe(zone === "Europe/Berlin" ? 0 : 1);
      await soldToday(page).click();
      await page.getByRole("slider", { name: "Sales by hour" }).waitFor();
      await page.getByRole("cell", { name: /23 Nov, 00:30/ }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.close();
    }
  });

  test("end at the shop's midnight on a page that stays open", async () => {
    ui.service.clock.setWall(Date.parse("2026-11-24T22:58:00Z"));
    const petId = await ui.addPet({ name: "Night", status: "available" });
    await call("POST", "/store/orders", { petId, confirm: true });
    const page = await ui.browser.open("about:blank");
    await page.clock.install({ time: ui.service.clock.now() });
    await page.goto(`${ui.origin}/console#key=${ui.key}`);
    await soldToday(page).getByText("1", { exact: true }).waitFor();
    await page.getByText("Tuesday 24 November").waitFor();
    ui.service.clock.advance(3 * MINUTE);
    await page.clock.fastForward(3 * MINUTE);
    await page.getByText("Wednesday 25 November").waitFor();
    await soldToday(page).getByText("0", { exact: true }).waitFor();
    await page.close();
  });

  test("can be 366 at most, and no form offers what the service refuses", async () => {
    const page = await open("/sales?range=custom&since=2020-01-01&until=2026-11-21", "Europe/Berlin");
    await page.getByText("Nothing was sold in this time.").waitFor();
    expect(await page.getByLabel("First day").inputValue()).toBe("2025-11-21");
    await page.getByLabel("First day").fill("2024-05-01");
    await page.waitForURL(/since=2024-05-01&until=2025-05-01/);
    await page.getByLabel("Last day").fill("2023-01-01");
    await page.waitForURL(/since=2023-01-01&until=2023-01-01/);
    await page.getByText("Nothing was sold in this time.").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.close();
  });
});
