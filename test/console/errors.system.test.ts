// Every error on every page: what happened, and what to do about it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { simulations } from "../../console/src/generated/contract.ts";
import { hasBrowser } from "../harness/browser.ts";
import { correctStatus, TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";
import { WebhookService } from "../harness/webhook-service.ts";

/** The requests of a page, without the one that signs in. */
const anyRequest = /\/v1\/(?!key$)/;

/** From now on the service returns this error to requests of the page. */
const simulate = (page: Page, requests: RegExp, code: string) =>
  page.route(requests, (route) =>
    route.continue({ headers: { ...route.request().headers(), "petstore-simulate": code } }),
  );

describe.skipIf(!hasBrowser)("in the console", () => {
  let webhooks: WebhookService;
  let ui: TestConsole;
  let ids: Record<string, unknown>;
  beforeAll(async () => {
    webhooks = await WebhookService.start();
    ui = await TestConsole.forService(webhooks.service, webhooks.key);
    const { id } = await webhooks.endpoint(webhooks.receiver());
    const pet = await webhooks.addPet("Rex");
    await webhooks.deliver();
    const [delivery] = await webhooks.deliveries(id);
    ids = { PET: pet, ENDPOINT: id, DELIVERY: delivery?.id };
  });
  afterAll(() => ui.stop());
  beforeEach(() => ui.service.clock.advance(60_000)); // at most 20 requests a minute about a sandbox are admitted

  test.each([
    "",
    "/animals",
    "/animals/PET",
    "/orders",
    "/sales",
    "/categories",
    "/requests",
    "/requests/no-request",
    "/events",
    "/events/1",
    "/webhooks",
    "/webhooks/ENDPOINT",
    "/webhooks/ENDPOINT/DELIVERY",
    "/usage",
    "/keys",
    "/sandbox",
  ])("the page %s says that the service has failed, and reads again when asked to", async (path) => {
    const page = await ui.browser.open("about:blank");
    await simulate(page, anyRequest, "internal_error");
    const address = path.replaceAll(/[A-Z]+/g, (name) => String(ids[name]));
    await page.goto(`${ui.origin}/console${address}#key=${ui.key}`);
    const alerts = page.locator("main").getByRole("alert");
    const alert = alerts.first();
    await alert.getByText("Simulated:").waitFor();
    await alert.getByText("report the request's id").waitFor();
    await alert.getByText(/^Request [\w-]+/).waitFor();
    await eventually(async () => (await page.locator("main .skeleton").count()) === 0);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    const simulated = page.locator("main").getByText("Simulated:");
    const before = await simulated.count();
    await alert.getByRole("button", { name: "Try again" }).click();
    await eventually(async () => (await simulated.count()) < before);
    await page.close();
  });

  test("an address with a percent sign that encodes nothing is not found", async () => {
    const page = await ui.open("/animals/%");
    await page.getByText("No animal has this number.").waitFor();
    await ui.leave(page);
  });

  test("an event that is no longer stored is explained, with advice that helps", async () => {
    const page = await ui.browser.open("about:blank");
    await page.route(/\/v1\/events\/5$/, (route) =>
      route.fulfill({
        status: 410,
        json: { code: "events_expired", message: "The first stored event has the id 4711." },
      }),
    );
    await page.goto(`${ui.origin}/console/events/5#key=${ui.key}`);
    const text = await page.locator("main").getByRole("alert").innerText();
    expect(text).toContain("The first stored event has the id 4711. Choose a later event.");
    expect(text).not.toContain("Reload");
    await page.close();
  });

  test.each([
    ["overloaded", "change", false],
    ["storage_unavailable", "change", true],
    ["storage_unavailable", "list", false],
  ] as const)(
    "the advice about %s for a %s says that a change may have been made: %p",
    async (code, request, isSaid) => {
      const page = await ui.open("/categories");
      await page.getByRole("button", { name: "Add category" }).waitFor();
      const answer = { status: 503, json: { code, message: "Out of order." } };
      // The client gives up at once: a retry would take longer than the request may.
      await page.route(/\/v1\/(categories|pets)/, (route) =>
        request === "list" || route.request().method() === "POST"
          ? route.fulfill({ ...answer, headers: { "Retry-After": "3600" } })
          : route.continue(),
      );
      if (request === "list") await page.getByRole("link", { name: "Animals" }).click();
      else {
        await page.getByRole("button", { name: "Add category" }).click();
        await page.getByRole("dialog").getByLabel("Name").fill("Mice");
        await page.keyboard.press("Enter");
      }
      const text = await page.locator("main").getByRole("alert").innerText();
      expect(text).toContain("Out of order. Try again in a moment.");
      expect(text.includes("A change may have been made.")).toBe(isSaid);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await ui.leave(page);
    },
  );

  test("a shop that is full is told so in words of a shop", async () => {
    const quota = { perMinute: 1_000, perDay: 10_000, animals: 1 };
    const { key } = await ui.service.newAccountWithKey("enterprise", quota);
    await ui.service.call("POST", "/categories", { key, body: { name: "Dogs" } });
    await ui.service.call("POST", "/pets", { key, body: { name: "Only", categoryId: 1 } });
    const page = await ui.open("/animals", { key });
    await page.getByRole("button", { name: "Add animal" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("More");
    await dialog.getByLabel("Category").selectOption("Dogs");
    await dialog.getByRole("button", { name: "Add animal" }).click();
    const said = await dialog.getByRole("alert").innerText();
    expect(said).toContain("The shop has as many animals as its plan allows.");
    expect(said).not.toContain("shop_full");
    await page.close();
  });

  test.each([...simulations])("a change that is answered with %s is explained", async (code) => {
    const page = await ui.open("/animals");
    await page.getByRole("button", { name: "More for Rex" }).waitFor();
    await simulate(page, /\/v1\/pets\/\d+$/, code);
    await correctStatus(page, "Rex", "Pending");
    const said = page.getByRole("alert").or(page.locator(".toast.bad, .banner.bad"));
    await said.first().waitFor();
    const text = await said.first().innerText();
    expect(text).toMatch(
      code === "disconnect"
        ? /No connection to the service\./
        : /Simulated: |entered cannot|is reserved|decides|has this/,
    );
    expect(text.length).toBeGreaterThan(60); // more than the message: what to do
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await ui.leave(page);
  });
});
