// Webhook endpoints and their deliveries, by pointer, by keyboard and on a telephone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { WebhookService } from "../harness/webhook-service.ts";

const hostile = ["<img src=x onerror=alert(1)>", "שלום עולם", "🐈‍⬛🐕🦜", "x".repeat(255)];
const dialogOf = (page: Page) => page.getByRole("dialog");
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const submit = (page: Page, name: string) => dialogOf(page).getByRole("button", { name, exact: true });
const secretOf = (page: Page) => dialogOf(page).getByLabel("The secret", { exact: true });
const urlOf = ({ port }: { readonly port: number }) => `http://127.0.0.1:${port}/hook`;
const row = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

describe.skipIf(!hasBrowser)("the pages of webhooks", () => {
  let webhooks: WebhookService;
  let ui: TestConsole;
  let small: TestConsole;
  beforeAll(async () => {
    webhooks = await WebhookService.start();
    ui = await TestConsole.forService(webhooks.service, webhooks.key);
    small = await TestConsole.forService(webhooks.service, webhooks.key, 390);
  });
  afterAll(async () => {
    await small.browser.stop();
    await ui.stop();
  });

  test("an endpoint is added, its secret is shown once, and a test reaches it", async () => {
    const receiver = webhooks.receiver();
    const page = await ui.open("/webhooks");
    await page.getByText("Nothing is sent anywhere yet.").waitFor();
    await button(page, "Add endpoint").click();
    await dialogOf(page).getByLabel("Url").fill(urlOf(receiver));
    await dialogOf(page).getByLabel("All events").uncheck();
    await submit(page, "Add endpoint").click();
    await dialogOf(page).getByText("Fill this in.").waitFor();
    await dialogOf(page).getByLabel("Pet created").check();
    await submit(page, "Add endpoint").click();
    const secret = await secretOf(page).inputValue();
    expect(secret).toStartWith("whsec_");
    await button(page, "I have stored it").click();
    await page.getByRole("heading", { name: urlOf(receiver) }).waitFor();
    await page.getByText("Pet created").waitFor();
    expect(await page.content()).not.toContain(secret);
    await button(page, "Send a test").click();
    await page.getByText("A test message is sent").waitFor();
    await webhooks.deliver();
    await row(page, "Webhook endpoint test").getByText("Succeeded").waitFor(); // without a reload
    expect(await page.getByRole("button", { name: /^Redeliver delivery/ }).count()).toBe(0); // a test has no event
    expect(receiver.received).toHaveLength(1);
    await ui.leave(page);
  });

  test("an endpoint is added by keyboard, after the service has said what is wrong with its URL", async () => {
    const page = await ui.open();
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    await page.keyboard.type("gw");
    await page.getByRole("heading", { name: "Webhooks" }).waitFor();
    await page.keyboard.type("n");
    await dialogOf(page).waitFor();
    await page.keyboard.type("nonsense");
    await page.keyboard.press("Enter");
    await dialogOf(page).getByRole("alert").getByText("url_invalid").waitFor();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("http://127.0.0.1:9999/keyboard");
    await page.keyboard.press("Enter");
    await secretOf(page).waitFor();
    for (const _ of ["field", "copy", "stored"]) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "http://127.0.0.1:9999/keyboard" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "http://127.0.0.1:9999/keyboard" }).waitFor();
    await ui.leave(page);
  });

  test("an endpoint is paused, resumed, edited, gets another secret, and is deleted", async () => {
    const { id } = await webhooks.endpoint(webhooks.receiver(), { description: "Tills" });
    const page = await ui.open(`/webhooks/${id}`);
    await button(page, "Pause").click();
    await page.getByText("Paused", { exact: true }).waitFor();
    await button(page, "Resume").click();
    await page.getByText("Enabled", { exact: true }).waitFor();
    await button(page, "Edit").click();
    await dialogOf(page).getByLabel("Description").fill("Tills and stock");
    await button(page, "Save").click();
    await page.getByText("Tills and stock").waitFor();
    expect((await webhooks.getEndpoint(id)).types).toEqual(["*"]);
    await button(page, "Edit").click();
    await dialogOf(page).getByLabel("Description").fill("");
    await button(page, "Save").click();
    await dialogOf(page).waitFor({ state: "detached" });
    expect((await webhooks.getEndpoint(id)).description).toBe("");
    await button(page, "Rotate secret").click();
    await submit(page, "Rotate secret").click();
    expect(await secretOf(page).inputValue()).toStartWith("whsec_");
    await button(page, "I have stored it").click();
    await button(page, "Delete").click();
    await submit(page, "Delete endpoint").click();
    await page.getByRole("heading", { name: "Webhooks" }).waitFor();
    expect((await webhooks.call("GET", `/webhook-endpoints/${id}`)).status).toBe(404);
    await ui.leave(page);
  });

  test("a failed delivery is explained, and its message, a range or everything since is sent again", async () => {
    let status = 500;
    const receiver = webhooks.receiver(() => new Response(`${hostile[0]} is down`, { status }));
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created", "pet.updated"] });
    const petId = await webhooks.addPet("Rex");
    await webhooks.deliver();
    const page = await ui.open(`/webhooks/${id}`);
    await page.getByRole("region", { name: "Last failure" }).getByText("500").waitFor();
    await button(page, "Failed").click();
    await page.getByRole("link", { name: /^Pet created/ }).click();
    await page.getByRole("region", { name: "Response" }).getByText(`${hostile[0]} is down`).waitFor();
    await page.getByRole("region", { name: "The event that was sent" }).getByText('"name": "Rex"').waitFor();
    status = 200;
    await page.getByRole("button", { name: /^Redeliver delivery/ }).click();
    await page.getByText("The message is queued").waitFor();
    await webhooks.deliver();
    await row(page, "Redelivery, attempt 1").getByText("Succeeded").waitFor(); // among the deliveries of the message

    const got = receiver.received.length;
    await page.goBack();
    await button(page, "Redeliver events").click();
    await dialogOf(page).getByLabel("Since").fill("2000-01-01T00:00");
    await submit(page, "Redeliver").click();
    await page.getByText(/^Events \d+ to \d+ are queued$/).waitFor();
    await webhooks.deliver();
    expect(receiver.received.length).toBe(got + 1);

    await webhooks.rename(petId, "Rex II");
    const [{ id: last }] = (await webhooks.call("GET", "/events?sort=-id&limit=1")).json;
    await button(page, "Redeliver events").click();
    await button(page, "A range of events").click();
    await dialogOf(page)
      .getByLabel("From")
      .fill(String(last + 1));
    await dialogOf(page).getByLabel("To optional").fill(String(last));
    await submit(page, "Redeliver").click();
    await dialogOf(page).getByRole("alert").or(dialogOf(page).locator(".fault")).first().waitFor();
    await dialogOf(page).getByLabel("From").fill(String(last));
    await submit(page, "Redeliver").click();
    await page.getByText(`Events ${last} to ${last} are queued`).waitFor();
    await ui.leave(page);
  });

  test("a message is sent again once if the response was lost", async () => {
    const receiver = webhooks.receiver();
    const { id } = await webhooks.endpoint(receiver, { types: ["pet.created"] });
    await webhooks.addPet("Rex");
    await webhooks.deliver();
    const page = await ui.open(`/webhooks/${id}`);
    const sendTwice = async (send: () => Promise<void>, done: RegExp) => {
      const before = receiver.received.length;
      await page.route(/\/redeliver$/, async (route) => {
        await route.fetch(); // the service does the work, and a proxy returns an error
        await route.fulfill({ status: 500, json: { code: "internal_error", message: "Lost." } });
      });
      await send();
      await page.getByText("Lost.").waitFor();
      await page.unrouteAll({ behavior: "wait" });
      await send();
      await page.getByText(done).waitFor();
      await webhooks.deliver();
      expect(receiver.received.length).toBe(before + 1);
    };
    await sendTwice(
      () =>
        page
          .getByRole("button", { name: /^Redeliver delivery/ })
          .first()
          .click(),
      /^The message is queued/,
    );
    for (const _ of ["Lost", "queued"]) await page.getByRole("button", { name: "Dismiss" }).first().click();
    const [{ id: last }] = (await webhooks.call("GET", "/events?type=pet.created&sort=-id&limit=1")).json;
    await button(page, "Redeliver events").click();
    await button(page, "A range of events").click();
    await dialogOf(page).getByLabel("From").fill(String(last));
    await sendTwice(() => submit(page, "Redeliver").click(), /^Events \d+ to \d+ are queued$/);
    await ui.leave(page);
  });

  test("a disabled endpoint must be resumed first, and what it missed is then offered", async () => {
    let status = 500;
    const { id } = await webhooks.endpoint(webhooks.receiver(() => new Response(null, { status })));
    await webhooks.addPet("Missed");
    await webhooks.deliver();
    status = 410;
    await webhooks.addPet("Last");
    while ((await webhooks.getEndpoint(id)).state === "enabled") await webhooks.deliver();
    const { missed } = await webhooks.getEndpoint(id);
    const page = await ui.open(`/webhooks/${id}`);
    await page.getByRole("region", { name: "Last failure" }).getByText("resume the endpoint").waitFor();
    await button(page, "Redeliver events").click();
    await dialogOf(page).getByText("The endpoint is disabled. Nothing is sent until you resume it.").waitFor();
    await submit(page, "Cancel").click();
    await page
      .getByRole("button", { name: /^Redeliver delivery/ })
      .first()
      .click();
    await page.getByText("The message is queued until you resume the disabled endpoint").waitFor();
    status = 204;
    await button(page, "Resume").click();
    await dialogOf(page).getByText("What it missed is sent only if you redeliver it.").waitFor();
    expect(await dialogOf(page).getByLabel("From").inputValue()).toBe(String(missed.from));
    expect(await accessibilityViolations(page)).toEqual([]);
    await submit(page, "Redeliver").click();
    await page.getByText(/^Events \d+ to \d+ are queued$/).waitFor();
    await button(page, "Redeliver events").click(); // for other events: those that it missed are not offered again
    await dialogOf(page).getByLabel("Since").waitFor();
    expect(await dialogOf(page).getByText("What it missed").count()).toBe(0);
    await ui.leave(page);
  });

  test("a key that may not read events sees its deliveries, and redelivers none", async () => {
    const { id } = await webhooks.endpoint(webhooks.receiver());
    await webhooks.addPet("Rex");
    await webhooks.deliver();
    const { key } = (await webhooks.call("POST", "/keys", { name: "admin", scopes: ["admin"] })).json;
    const page = await ui.open(`/webhooks/${id}`, { key });
    await page.getByRole("link", { name: /^Pet created/ }).click();
    await page.getByText("Message id").waitFor();
    expect(await page.getByRole("button", { name: /Redeliver|Change/ }).count()).toBe(0);
    expect(await page.locator("main").getByRole("alert").count()).toBe(0);
    await page.close();
  });

  test("an endpoint shows when it expires, is kept, or is resumed without its end", async () => {
    const { id } = await webhooks.endpoint(webhooks.receiver());
    const { store } = webhooks.service;
    // By the clock of the browser, which is not that of the service.
    await store.run(`UPDATE webhook_endpoints SET expires_at = ${Date.now() + 5_400_000} WHERE id = '${id}'`);
    const page = await ui.open(`/webhooks/${id}`);
    await page.getByText("expires in 1 hour").waitFor();
    await button(page, "Keep").click();
    await button(page, "Keep").waitFor({ state: "detached" });
    expect(await webhooks.getEndpoint(id)).not.toHaveProperty("expiresAt");
    await store.run(`UPDATE webhook_endpoints SET state = 'disabled', expires_at = 1 WHERE id = '${id}'`);
    await page.reload();
    await page.getByRole("region", { name: "Expired" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await button(page, "Resume").click();
    await page.getByText("Enabled", { exact: true }).waitFor();
    expect(await webhooks.getEndpoint(id)).not.toHaveProperty("expiresAt");
    await ui.leave(page);
  });

  test("a success rate is shown as it was counted", async () => {
    const { id } = await webhooks.endpoint(webhooks.receiver());
    const page = await ui.open();
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    await page.route(/webhook-endpoints$/, async (route) => {
      const response = await route.fetch();
      const [endpoint] = (await response.json()) as object[];
      await route.fulfill({
        response,
        json: [{ ...endpoint, id, url: "https://rate.test", successRate24h: 29 / 100 }],
      });
    });
    await page.getByRole("link", { name: "Webhooks" }).click();
    await row(page, "https://rate.test").getByText("29 %").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await ui.leave(page);
  });

  test("a service without a key for secrets says so on this page alone", async () => {
    const page = await ui.open();
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    await page.route(/webhook-endpoints/, (route) =>
      route.continue({ headers: { ...route.request().headers(), "petstore-simulate": "webhooks_unavailable" } }),
    );
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("alert").getByText("All other pages work.").waitFor();
    expect(await page.locator(".banner.bad").count()).toBe(0);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await ui.leave(page);
  });

  test("without the scope there is no page", async () => {
    const reader = await ui.open("/webhooks", { key: await ui.keyWith("read", "write") });
    await reader.getByText("your key may not see it").waitFor();
    expect(await reader.getByRole("link", { name: "Webhooks" }).count()).toBe(0);
    await reader.close();
  });

  test("a message that failed is tried again after a fast-forward to that delivery", async () => {
    await webhooks.newShop();
    const receiver = webhooks.receiver(() => new Response(null, { status: received() > 1 ? 200 : 500 }));
    const received = () => receiver.received.length;
    await webhooks.endpoint(receiver, { types: ["pet.created"] });
    const petId = await webhooks.addPet("Rex");
    await webhooks.deliver();
    await webhooks.call("POST", "/store/orders", { petId });
    const page = await ui.open("/sandbox", { key: webhooks.key });
    await page.getByText("1 webhook attempt, the next is due in").waitFor();
    await page.getByText("1 reservation, the next is due in").waitFor();
    await page.clock.setFixedTime(webhooks.service.clock.now());
    await button(page, "Until the next webhook attempt is due").click();
    await page.getByText(/^Fast-forwarded by /).waitFor();
    await webhooks.deliver();
    expect(received()).toBe(2);
    await page.close();
  });

  test("axe-core reports nothing, all fits a telephone, and texts are shown literally", async () => {
    await webhooks.newShop();
    for (const description of hostile) await webhooks.endpoint({ port: 9_998 }, { description });
    const receiver = webhooks.receiver(() => new Response(hostile.join(" "), { status: 503 }));
    const { id } = await webhooks.endpoint(receiver, { description: hostile[3], types: ["pet.created"] });
    await webhooks.addPet(hostile[0]);
    await webhooks.deliver();
    const [{ id: delivery }] = await webhooks.deliveries(id);
    const pages = {
      "/webhooks": hostile[3] as string,
      [`/webhooks/${id}`]: "Redeliver",
      [`/webhooks/${id}/${delivery}`]: hostile.join(" "),
    };
    for (const one of [ui, small]) {
      for (const [path, text] of Object.entries(pages)) {
        const page = await one.open(path, { key: webhooks.key });
        await page.getByText(text, { exact: true }).first().waitFor();
        expect([path, await accessibilityViolations(page)]).toEqual([path, []]);
        expect(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
        expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0);
        if (path === `/webhooks/${id}`) {
          await button(page, "Edit").click();
          expect(await accessibilityViolations(page)).toEqual([]);
        }
        await page.close();
      }
    }
  });
});
