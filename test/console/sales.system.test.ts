// What was sold: sums, the chart, shares, the list and its file, on the pages Sales and Today.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { CsvReader } from "../../csv/reader.ts";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole, untilLive } from "../harness/console.ts";
import { NOON } from "../harness/manual-clock.ts";
import { TestService } from "../harness/service.ts";

const [TILL, DOGS, CATS] = ["<b>Ann</b>", "Dogs", "Cats"];
const eur = (amount: number) => ({ amount, currency: "EUR" });
const told = (page: Page) => page.locator(".chart output");
const sums = (page: Page, text: string) =>
  page.getByRole("region", { name: "Sums" }).getByRole("heading", { name: text });
const shares = (page: Page) => page.getByRole("region", { name: "Shares" }).getByRole("listitem");
const rows = (page: Page) => page.getByRole("table", { name: "Sales", exact: true }).locator("tbody tr");
const namesIn = async (page: Page) => (await rows(page).getByRole("link").allInnerTexts()).join();
const soldToday = (page: Page) => page.getByRole("link", { name: /^Sold today/ });

describe.skipIf(!hasBrowser)("what was sold", () => {
  let ui: TestConsole;
  let small: TestConsole;
  let till: string;

  /** Sells a new animal at a time. Returns the id of the order. */
  async function sell(at: string, name: string, sale: { key?: string; price?: object; reference?: string } = {}) {
    const { key = ui.key, ...order } = sale;
    ui.service.clock.setWall(Date.parse(at));
    const petId = await ui.addPet({ name, categoryId: key === till ? 2 : 1, status: "available" });
    const { json } = await ui.service.call("POST", "/store/orders", { key, body: { petId, confirm: true, ...order } });
    return json.id as number;
  }
  beforeAll(async () => {
    const service = await TestService.start();
    service.clock.setWall(Date.parse("2026-11-05T09:00:00Z")); // before all sales: a log does not go back
    ui = await TestConsole.forService(
      service,
      await service.newKey("enterprise", undefined, ["read", "write", "admin"]),
    );
    small = await TestConsole.forService(ui.service, ui.key, 390);
    for (const name of [DOGS, CATS]) await ui.addCategory(name);
    const body = { name: TILL, scopes: ["read", "write"] };
    till = (await ui.service.call("POST", "/keys", { key: ui.key, body })).json.key;
    await sell("2026-11-05T10:00:00Z", "Olga", { key: till, price: eur(12_900) });
    await sell("2026-11-14T10:00:00Z", "Lena", { price: eur(700) });
    await sell("2026-11-15T23:30:00Z", "Sunny", { key: till, price: eur(2_000) });
    await sell("2026-11-16T00:30:00Z", "Mona", { price: eur(1_000) });
    const rex = { key: till, price: { amount: 9_500, currency: "CHF" }, reference: "-1 receipt" };
    await sell("2026-11-21T09:00:00Z", "=Rex", rex);
    await sell("2026-11-21T10:00:00Z", "Tom", { price: eur(12_900) });
    const order = await sell("2026-11-21T11:00:00Z", "Nell");
    await ui.service.call("POST", `/store/orders/${order}/return`, { key: ui.key });
  });
  const useZone = (timeZone: string) => ui.service.call("PATCH", "/shop", { key: ui.key, body: { timeZone } });
  beforeEach(() => ui.service.clock.setWall(NOON));
  afterAll(async () => {
    await small.browser.stop();
    await ui.stop();
  });

  /** The clock of the page is that of the service, and its time zone is that of the shop. */
  async function open(path = "/sales", one = ui, { zone = "UTC" } = {}) {
    const page = await one.browser.open("about:blank");
    await page.clock.setFixedTime(ui.service.clock.now());
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Emulation.setTimezoneOverride", { timezoneId: zone });
    await page.goto(`${one.origin}/console${path}#key=${one.key}`);
    return page;
  }

  test("is added up for today, the week from Monday, the month and chosen days, all of which are in the address", async () => {
    const page = await open();
    await sums(page, "4 sold, 1 returned 95.00 CHF + 139.00 EUR").waitFor();
    await page.getByRole("button", { name: "Today" }).click();
    await sums(page, "3 sold, 1 returned 95.00 CHF + 129.00 EUR").waitFor();
    await page.waitForURL(/sales\?range=today$/);
    await page.getByRole("button", { name: "This month" }).click();
    await sums(page, "7 sold, 1 returned 95.00 CHF + 295.00 EUR").waitFor();
    await page.getByRole("button", { name: "Custom" }).click();
    await page.waitForURL(/sales\?range=custom&since=2026-11-01&until=2026-11-21$/);
    await page.getByLabel("Last day").fill("2026-11-15");
    await sums(page, "3 sold 156.00 EUR").waitFor();
    await page.getByLabel("First day").fill("2026-11-06");
    await sums(page, "2 sold 27.00 EUR").waitFor();
    await page.reload();
    await sums(page, "2 sold 27.00 EUR").waitFor();
    await page.getByRole("button", { name: "This week" }).click();
    await sums(page, "4 sold").waitFor();
    expect(page.url()).toEndWith("/sales");
    await page.close();
  });

  test("belongs to the days of the shop's time zone, in any browser", async () => {
    await useZone("Europe/Berlin");
    for (const zone of ["UTC", "Europe/Berlin"]) {
      const page = await open("/sales", ui, { zone });
      await sums(page, "5 sold, 1 returned 95.00 CHF + 159.00 EUR").waitFor();
      await rows(page).filter({ hasText: "Sunny" }).getByText("16 Nov, 00:30").waitFor();
      expect(await page.getByText("Days of Europe/Berlin").count()).toBe(zone === "UTC" ? 1 : 0);
      await page.close();
    }
    await useZone("UTC");
  });

  test("is told for each day by keyboard, and as a table", async () => {
    const page = await open("");
    await soldToday(page).waitFor();
    await page.keyboard.type("gl");
    await sums(page, "4 sold").waitFor();
    await page.getByRole("slider", { name: "Sales by day" }).focus();
    await page.keyboard.press("End");
    await told(page).getByText("Sat 21 Nov: 3 sold, 1 returned, 95.00 CHF + 129.00 EUR", { exact: true }).waitFor();
    await page.keyboard.press("Home");
    await told(page).getByText("Mon 16 Nov: 1 sold, 10.00 EUR", { exact: true }).waitFor();
    await page.keyboard.press("ArrowRight");
    await told(page).getByText("Tue 17 Nov: 0 sold", { exact: true }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const table = page.getByRole("table", { name: "Sales by day" });
    expect(await table.getByRole("row").allInnerTexts()).toEqual([
      "Time\tSold\tNet",
      "Mon 16 Nov\t1 sold\t10.00 EUR",
      "Sat 21 Nov\t3 sold, 1 returned\t95.00 CHF + 129.00 EUR",
    ]);
    await page.close();
  });

  test("is shown by seller and category, and as a list that both filter", async () => {
    const page = await open("/sales?range=month");
    await shares(page).filter({ hasText: TILL }).getByText("3 sold · 95.00 CHF + 149.00 EUR").waitFor();
    await shares(page).filter({ hasText: DOGS }).getByText("4 sold, 1 returned · 146.00 EUR").waitFor();
    await rows(page).nth(6).waitFor();
    expect(await namesIn(page)).toBe("Nell,Tom,=Rex,Mona,Sunny,Lena,Olga");
    const rex = rows(page).nth(2);
    expect(await rex.innerText()).toBe(`21 Nov, 09:00\t=Rex\t${CATS}\t${TILL}\t-1 receipt\t95.00 CHF`);
    await rows(page).first().getByText("Returned").waitFor();
    await page.getByText("7 sales").waitFor();
    await page.getByLabel("Seller").selectOption(TILL);
    await page.getByText("3 sales").waitFor();
    await rows(page).filter({ hasText: "Tom" }).waitFor({ state: "detached" });
    expect(await namesIn(page)).toBe("=Rex,Sunny,Olga");
    await page.getByLabel("Category").selectOption(DOGS);
    await page.getByText("Nothing was sold in this time.").waitFor();
    await page.getByLabel("Seller").selectOption("All sellers");
    await rows(page).filter({ hasText: "Tom" }).waitFor();
    await page.getByText("4 sales").waitFor();
    await page.close();
  });

  test("is saved as a file that no spreadsheet runs, as the list is filtered", async () => {
    const page = await open("/sales?range=month&category=2");
    await sums(page, "7 sold").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("sales-2026-11-01-to-2026-11-21.csv");
    const { records } = new CsvReader().read(readFileSync(await download.path(), "utf8"));
    const animals = records.map(({ fields }) => fields.toSpliced(3, 1).toSpliced(1, 1).join("|")); // without the ids
    expect(animals).toEqual([
      "sold (UTC)|animal|category|seller|reference|price|currency|returned",
      `2026-11-21 09:00:00|'=Rex|${CATS}|${TILL}|'-1 receipt|95.00|CHF|`,
      `2026-11-15 23:30:00|Sunny|${CATS}|${TILL}||20.00|EUR|`,
      `2026-11-05 10:00:00|Olga|${CATS}|${TILL}||129.00|EUR|`,
    ]);
    await page.close();
  });

  test("today is compared with the same day a week ago, beside the last 14 days", async () => {
    const page = await open("");
    await soldToday(page).getByText("1 returned · 95.00 CHF + 129.00 EUR").waitFor();
    await soldToday(page).getByText("2 more", { exact: true }).waitFor();
    await soldToday(page).getByText("than a week ago").waitFor();
    await told(page).getByText("6 sold, 1 returned · 95.00 CHF + 166.00 EUR").waitFor();
    await soldToday(page).click();
    await sums(page, "3 sold").waitFor();
    await page.close();
  });

  test("costs at most six requests to sign in, and two for another page", async () => {
    const page = await ui.browser.open("about:blank");
    const asked: string[] = [];
    page.on("request", (request) => {
      if (/\/v1\/(?!key$)/.test(request.url())) asked.push(request.url()); // the other one costs no quota
    });
    await page.clock.setFixedTime(NOON);
    await page.goto(`${ui.origin}/console#key=${ui.key}`);
    await untilLive(page);
    await page.getByLabel("Events").getByText("Nell").first().waitFor();
    await told(page).getByText("6 sold").waitFor();
    expect(asked.length).toBeLessThanOrEqual(6);
    for (const [keys, minutes] of Object.entries({ gl: 1, gt: 2, go: 3 })) {
      await page.clock.setFixedTime(NOON + minutes * 60_000);
      asked.length = 0;
      await page.keyboard.type(keys);
      await page.locator(":root:has(.skeleton)").waitFor({ state: "detached" });
      expect([keys, asked.filter((address) => !/\/events\/stream/.test(address)).length <= 2]).toEqual([keys, true]);
    }
    await page.close();
  });

  test("by another program is shown on both pages without a reload", async () => {
    const today = await open("");
    const page = await open();
    await untilLive(today);
    await sums(page, "4 sold").waitFor();
    const order = await sell("2026-11-21T12:00:00Z", "Live", { key: till, price: eur(100) });
    await sums(page, "5 sold, 1 returned 95.00 CHF + 140.00 EUR").waitFor();
    await rows(page).filter({ hasText: "Live" }).waitFor();
    await soldToday(today).getByText("95.00 CHF + 130.00 EUR").waitFor();
    await ui.service.call("POST", `/store/orders/${order}/return`, { key: till });
    await told(page).getByText("after 1.00 EUR paid back").waitFor();
    await sums(page, "5 sold, 2 returned 95.00 CHF + 139.00 EUR").waitFor();
    await rows(page).filter({ hasText: "Live" }).getByText("Returned").waitFor();
    await today.close();
    await page.close();
  });

  test("is hidden from a key that may not read it", async () => {
    const page = await ui.open("", { key: await ui.keyWith("write") });
    await page.getByRole("heading", { name: "Today" }).waitFor();
    expect(await page.getByRole("link", { name: "Sales" }).count()).toBe(0);
    expect(await page.locator(".chart, [role=alert]").count()).toBe(0);
    await ui.goTo(page, "/sales");
    await page.getByRole("heading", { name: "Nothing here" }).waitFor();
    await page.close();
  });

  test("axe-core reports nothing, and all fits a telephone", async () => {
    for (const one of [ui, small]) {
      for (const path of ["", "/sales?range=custom&since=2026-11-01&until=2026-11-21"]) {
        const page = await open(path, one);
        if (path) await rows(page).nth(6).waitFor();
        await page.getByText("Show as a table").click();
        await page.getByRole("slider").focus();
        await page.keyboard.press("End");
        expect([path, await accessibilityViolations(page)]).toEqual([path, []]);
        expect(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
        if (one === small)
          expect(await page.getByRole("navigation", { name: "Most used" }).innerText()).toMatch(
            /^Today\s+Animals\s+Sell\s+Sales\s+More$/,
          );
        await page.close();
      }
    }
  });
});
