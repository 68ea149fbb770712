// What the console costs of a plan's requests: signing in, going from page to page, and staying on a page.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole, untilLive } from "../harness/console.ts";
import { NOON } from "../harness/manual-clock.ts";

const MINUTE = 60_000;
/** Longer than what was read stays fresh. */
const A_MOMENT = 6_000;
const isCounted = (address: string) => /\/v1\/(?!(sandbox\/|key$|usage|requests))/.test(address);
const isStream = (address: string) => address.includes("/events/stream");

describe.skipIf(!hasBrowser)("the console", () => {
  let ui: TestConsole;
  let page: Page;
  let asked: string[] = [];
  let unanswered = 0;

  beforeAll(async () => {
    ui = await TestConsole.start();
    const call = (path: string, body: object, key = ui.key) => ui.service.call("POST", path, { key, body });
    await ui.addCategory("Dogs");
    const { key: till } = (await call("/keys", { name: "Till", scopes: ["read", "write"] })).json;
    for (const [name, confirm] of [
      ["Rex", false],
      ["Tom", true],
    ] as const) {
      await call("/store/orders", { petId: await ui.addPet({ name, status: "available" }), confirm }, till);
    }
    page = await ui.browser.open("about:blank");
    page.on("request", (request) => {
      const address = request.url();
      if (isCounted(address) && !isStream(address)) asked.push(address.replace(/.*\/v1/, request.method()));
      if (!isStream(address)) unanswered++;
    });
    for (const end of ["requestfinished", "requestfailed"] as const)
      page.on(end as "requestfinished", (request) => void (isStream(request.url()) || unanswered--));
    await page.clock.install({ time: NOON });
  });
  afterAll(async () => {
    await page.close();
    await ui.stop();
  });

  /** Waits until everything is answered that the page has asked for, also because of an answer. */
  async function settled(): Promise<readonly string[]> {
    for (let quiet = 0; quiet < 20; quiet++) {
      await page.evaluate("0");
      if (unanswered > 0) quiet = -1;
    }
    return asked;
  }

  test("signs in with six requests beside its stream, also if the orders come while names are on their way", async () => {
    const names = page.waitForRequest(/\/pets\?.*ids=/);
    const orders = page.waitForResponse(/\/store\/orders\?/);
    await page.route(/\/store\/orders\?/, async (route) => {
      await names;
      await route.continue();
    });
    await page.route(/\/pets\?.*ids=/, async (route) => {
      await (await orders).finished();
      await page.evaluate("0");
      await route.continue();
    });
    await page.goto(`${ui.origin}/console#key=${ui.key}`);
    await untilLive(page);
    await page.getByLabel("Reserved now").getByText("Rex").waitFor();
    expect((await settled()).length <= 6 || asked).toBe(true);
    await page.unrouteAll({ behavior: "wait" });
  });

  test("goes from page to page with two requests", async () => {
    const links = page.getByRole("navigation", { name: "Pages of the console" }).locator(".pages a span:first-of-type");
    const titles = await links.allInnerTexts();
    expect(titles.length).toBeGreaterThan(10);
    // The first visit of a page may also read the categories, which later ones know.
    for (const [index, title] of [...titles.slice(1), ...titles].entries()) {
      // This starts no timer: after a silence the stream would reconnect, and pages opened until then read everything.
      await page.clock.setSystemTime(NOON + (index + 1) * A_MOMENT);
      await settled();
      asked = [];
      await links.filter({ hasText: title }).click();
      await page.getByRole("heading", { name: title, exact: true }).waitFor();
      const most = index < titles.length - 1 ? 3 : 2;
      expect([title, (await settled()).length <= most || asked]).toEqual([title, true]);
    }
  });

  test("asks nothing while a page is open", async () => {
    asked = [];
    await page.clock.runFor(10 * MINUTE);
    expect(await settled()).toEqual([]);
  });
});
