// The page of the sandbox: fast-forwards, and its reset.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole, untilLive } from "../harness/console.ts";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe.skipIf(!hasBrowser)("the page of the sandbox", () => {
  let ui: TestConsole;
  let small: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    small = await TestConsole.forService(ui.service, ui.key, 390);
    await ui.addCategory("Dogs");
  });
  afterAll(async () => {
    await small.browser.stop();
    await ui.stop();
  });

  beforeEach(() => ui.service.clock.advance(60_000)); // at most 20 fast-forwards and resets a minute are admitted

  const call = (method: string, path: string, body?: unknown) =>
    ui.service.call(method, path, { key: ui.key, ...(body !== undefined && { body }) });
  const order = async (reference: string) =>
    call("POST", "/store/orders", { petId: await ui.addPet({ name: "Rex", status: "available" }), reference });

  /** When the next reservation ends, in Unix milliseconds; undefined if none waits. */
  const nextEnd = async (): Promise<number | undefined> => {
    const { waiting } = (await call("GET", "/sandbox")).json;
    const reservations = waiting.find(({ kind }: { kind: string }) => kind === "reservation");
    return reservations && Date.parse(reservations.next);
  };

  test("brings the end of a reservation nearer, which every tab shows", async () => {
    await order("Till 1");
    const [page, other] = [await ui.open("/sandbox"), await ui.openLive("/orders?status=all")];
    await page.clock.setFixedTime(ui.service.clock.now());
    await other
      .getByRole("row", { name: /Till 1/ })
      .getByText("Reserved")
      .waitFor();
    await page.getByText("1 reservation, the next is due in").waitFor();
    await button(page, "Until the next reservation is due").click();
    await page.getByText("Fast-forwarded by 15 minutes").waitFor();
    await page.getByText("1 reservation").waitFor({ state: "detached" });
    await other
      .getByRole("row", { name: /Till 1/ })
      .getByText("Expired")
      .waitFor();
    await button(page, "+1 day").click();
    await page.getByText("Fast-forwarded by 1 day").waitFor();
    await Promise.all([page.close(), other.close()]);
  });

  test("fast-forwards once if the response was lost, and again by another time", async () => {
    await order("Till 2");
    const before = (await nextEnd()) as number;
    const page = await ui.open("/sandbox");
    await page.route(/\/v1\/sandbox\/fast-forward$/, async (route) => {
      await route.fetch(); // the service does the work, and a proxy returns an error
      await route.fulfill({ status: 500, json: { code: "internal_error", message: "Lost." } });
    });
    await button(page, "+1 minute").click();
    await page.getByText("Lost.").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await button(page, "+1 minute").click();
    await page.getByText("Fast-forwarded by 1 minute").waitFor();
    expect(before - ((await nextEnd()) as number)).toBe(60_000);
    await page.route(/\/v1\/sandbox\/fast-forward$/, (route) => route.fulfill({ status: 500, json: {} }));
    await button(page, "+1 minute").click();
    await page.getByRole("alert").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await button(page, "+15 minutes").click();
    await page.getByText("Fast-forwarded by 15 minutes").waitFor();
    expect(await nextEnd()).toBeUndefined();
    await ui.leave(page);
  });

  test("alone says that too many fast-forwards were sent", async () => {
    const page = await ui.open();
    await untilLive(page);
    await page.route(/\/v1\/sandbox\/fast-forward$/, (route) =>
      route.continue({ headers: { ...route.request().headers(), "petstore-simulate": "rate_limit_exceeded" } }),
    );
    const banner = page.getByText("Too many requests.");
    await page.keyboard.type("gs");
    await button(page, "+1 minute").click();
    await banner.waitFor();
    await page.keyboard.type("gt");
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    expect(await banner.count()).toBe(0);
    await page.keyboard.type("gs");
    await banner.waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await ui.leave(page);
  });

  test("is reset by keyboard after a confirmation, and what happens then is shown live", async () => {
    const page = await ui.open();
    await untilLive(page);
    await page.keyboard.type("gs");
    await button(page, "Reset").focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Reset the sandbox?" });
    await dialog.getByText("is deleted permanently").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await dialog.getByLabel("Animals").selectOption("None");
    await dialog.getByRole("button", { name: "Reset the sandbox" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await call("GET", "/pets")).json).toEqual([]);
    await page.keyboard.type("gt");
    await page.getByText("0 added today").waitFor();
    await untilLive(page);
    await ui.addPet({ name: "Ida", status: "available" });
    await page.getByLabel("Events").getByText("Ida").waitFor();
    await ui.leave(page);
  });

  test("that another program resets is shown as it is then", async () => {
    for (const name of ["Ben", "Bo", "Kim"]) await ui.addPet({ name });
    const page = await ui.open();
    await untilLive(page);
    await call("POST", "/sandbox/reset", { animals: "none" });
    await page.getByText("0 added today").waitFor();
    await ui.addPet({ name: "Otto" });
    await page.getByLabel("Events").getByText("Otto").waitFor();
    await ui.leave(page);
  });

  test("shows what a program gets when the service returns an error", async () => {
    const page = await ui.open("/sandbox");
    await page.getByLabel("Error", { exact: true }).selectOption("pet_has_open_order");
    await button(page, "Send the request").click();
    const shown = page.getByRole("region", { name: "Request and response" });
    await shown.getByText("Petstore-Simulate: pet_has_open_order").waitFor();
    await shown.getByText('"code": "pet_has_open_order"').waitFor();
    await page.getByLabel("Error", { exact: true }).selectOption("rate_limit_exceeded");
    await button(page, "Send the request").click();
    await shown.getByText(/HTTP 429\nRetry-After: \d+\n/).waitFor();
    expect(await page.locator(".banner.bad").count()).toBe(0); // the console itself goes on
    await page.getByLabel("Error", { exact: true }).selectOption("disconnect");
    await button(page, "Send the request").click();
    await shown.getByText("The connection was closed without a response.").waitFor();
    await ui.leave(page);
  });

  test("is for test keys only", async () => {
    const live = await TestConsole.start({ settings: { PETSTORE_ENV: "production" } });
    const { key } = await live.service.newAccountWithKey("business", undefined, ["read", "write", "admin"], "live");
    const page = await live.open("/sandbox", { key });
    await page.getByText("your key may not see it").waitFor();
    await page.getByRole("link", { name: "Keys" }).waitFor();
    expect(await page.getByRole("link", { name: "Sandbox" }).count()).toBe(0);
    await page.close();
    await live.stop();
  });

  test("offers a key without the scope nothing to change", async () => {
    const page = await ui.open("/sandbox", { key: await ui.keyWith("read") });
    await page.getByText("Categories").or(page.getByText("your key may not see it")).first().waitFor();
    expect([await button(page, "Reset").count(), await button(page, "+1 day").count()]).toEqual([0, 0]);
    await page.close();
  });

  test("axe-core reports nothing, and all fits a telephone", async () => {
    await order("Till of axe-core");
    for (const one of [ui, small]) {
      const page = await one.open("/sandbox");
      await button(page, "Until the next reservation is due").waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await button(page, "Reset").click();
      await page.getByRole("dialog").waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await one.leave(page);
    }
  });
});
