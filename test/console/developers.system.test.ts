// The log of events and the log of requests, by pointer, by keyboard and on a telephone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const hostile = ["<img src=x onerror=alert(1)>", "שלום עולם", "🐈‍⬛🐕🦜", "x".repeat(255)];
const fits = (page: Page) => page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth");

describe.skipIf(!hasBrowser)("for developers", () => {
  let ui: TestConsole;
  let small: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    small = await TestConsole.start({ width: 390 });
    for (const one of [ui, small]) {
      await one.addCategory("Dogs");
      for (const name of hostile) await one.addPet({ name, status: "available" });
    }
  });
  afterAll(async () => {
    await ui.stop();
    await small.stop();
  });

  const call = (method: string, path: string, body?: unknown, one = ui) =>
    one.service.call(method, path, { key: one.key, ...(body !== undefined && { body }) });
  /** Sends a request that fails, and gives its id once its record is there. */
  const failed = async (one = ui, headers: Record<string, string> = {}) => {
    one.service.clock.advance(1_000); // few requests of a second are recorded
    const body = { name: "", categoryId: "Dogs" };
    const response = await one.service.call("POST", "/pets", { key: one.key, body, headers });
    const id = response.headers.get("x-request-id") as string;
    await eventually(async () => (await call("GET", `/requests/${id}`, undefined, one)).status === 200);
    return id;
  };

  test("events are filtered by type, animal and order, and one of them is opened", async () => {
    const ida = await ui.addPet({ name: "Ida", status: "available" });
    const { id: order } = (await call("POST", "/store/orders", { petId: ida, reference: "Till 4" })).json;
    const page = await ui.open("/events");
    const events = page.getByLabel("Events", { exact: true }).getByRole("listitem");
    await events.filter({ hasText: "Dogs" }).waitFor();
    await page.getByLabel("Animal id").fill(String(ida));
    await page.keyboard.press("Enter");
    await events.filter({ hasText: "Dogs" }).waitFor({ state: "detached" });
    await eventually(async () => (await events.count()) === 3);
    await page.getByLabel("Type").selectOption("Order placed");
    await eventually(async () => (await events.count()) === 1);
    await page.getByLabel("Animal id").fill("");
    await page.getByLabel("Order id").fill(String(order));
    await page.keyboard.press("Enter");
    await eventually(() => page.url().endsWith(`/events?type=order.placed&order=${order}`));
    await events.getByText("Till 4").waitFor();
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "Reserved" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "After" }).getByText('"reference": "Till 4"').waitFor();
    await page
      .getByRole("link", { name: `pet ${ida}` })
      .or(page.getByText(`order ${order}`))
      .first()
      .waitFor();
    await page.goBack();
    await events.getByText("Till 4").waitFor();
    await ui.leave(page);
  });

  test("an event leads to the request that caused it", async () => {
    const page = await ui.open("/events?type=pet.created");
    await page.getByRole("link", { name: "Added" }).last().click();
    await page.getByRole("heading", { name: /^Event \d/ }).waitFor();
    const link = page.getByRole("link", { name: /^[0-9a-f]{20}$/ });
    await eventually(async () => (await call("GET", `/requests/${await link.innerText()}`)).status === 200);
    await link.click();
    await page.getByText("createPet succeeded with status 201.").waitFor();
    await ui.leave(page);
  });

  test("a failed request is found, explained, and copied as a command", async () => {
    const id = await failed();
    const page = await ui.open("/requests");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Failed" }).click();
    await page.getByRole("link", { name: "Rejected" }).click();
    const first = page.getByRole("row").filter({ hasText: "POST /pets" }).first();
    await first.waitFor();
    expect(page.url()).toEndWith("/requests?status=4xx");
    const box = await first.getByText("invalid_request").boundingBox();
    if (!box) throw new Error("The code of the error is not there.");
    await page.mouse.move(box.x + 1, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 60, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up(); // it selects text, so it follows no link
    expect(await page.evaluate<string>("String(getSelection())")).toStartWith("inval");
    expect(page.url()).toEndWith("/requests?status=4xx");
    await first.getByRole("cell").first().click();
    const happened = page.getByRole("region", { name: "What happened" });
    await happened.getByText("/body/name").waitFor();
    await happened.getByText("Correct every field named in the details.").waitFor();
    await page.getByText("readInput").waitFor();
    expect(page.url()).toEndWith(`/requests/${id}`);
    await page.getByRole("button", { name: "Copy the command" }).click();
    const expected = `curl -i -X POST '${ui.service.app.base}/pets' \\\n  -H "Authorization: Bearer $PETSTORE_KEY"`;
    await eventually(async () => (await page.evaluate<string>("navigator.clipboard.readText()")).startsWith(expected));
    const reference = page.getByRole("link", { name: "Open createPet in the reference" });
    expect(await reference.getAttribute("href")).toBe("/docs#createPet");
    await page.getByRole("link", { name: "invalid_request" }).click();
    await page.getByText("Reads that succeeded are left out.").waitFor();
    await page.getByRole("button", { name: "Remove the filter invalid_request" }).waitFor();
    await page.close();
  });

  test("an error that was asked for is explained as such, although it has details", async () => {
    const page = await ui.open(`/requests/${await failed(ui, { "Petstore-Simulate": "invalid_request" })}`);
    const happened = page.getByRole("region", { name: "What happened" });
    await happened.getByText("The request asked for this error with Petstore-Simulate").waitFor();
    await ui.leave(page);
  });

  test("a request is found by its id, by keyboard; for one that is not recorded the page says so", async () => {
    const id = await failed();
    const page = await ui.open();
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    await page.keyboard.type("gr");
    await page.getByRole("table", { name: "Requests" }).waitFor();
    await page.getByLabel("Request id").fill(id);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "POST /pets" }).waitFor();
    await page.goBack();
    await page.getByLabel("Request id").fill("nonsense");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("request_not_found").waitFor();
    await ui.leave(page);
  });

  test("an event that happens while the page is open is shown", async () => {
    const page = await ui.openLive("/events?type=pet.created");
    await page.getByRole("link", { name: "Added" }).first().waitFor();
    await ui.addPet({ name: "Newcomer" });
    await page.getByText("Newcomer").waitFor();
    await ui.leave(page);
  });

  test("names in events are shown literally", async () => {
    const page = await ui.open("/events?type=pet.created");
    for (const name of hostile) expect(await page.getByText(name, { exact: true }).first().innerText()).toBe(name);
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0);
    await ui.leave(page);
  });

  test("axe-core reports nothing, and all fits a telephone", async () => {
    for (const one of [ui, small]) {
      const id = await failed(one);
      const pages = {
        "/events": "x".repeat(255),
        "/events/5": "pet.created",
        "/requests": "POST /pets",
        [`/requests/${id}`]: id,
      };
      for (const [path, text] of Object.entries(pages)) {
        const page = await one.open(path);
        await page.getByText(text, { exact: true }).first().waitFor();
        expect([path, await accessibilityViolations(page)]).toEqual([path, []]);
        expect([path, await fits(page)]).toEqual([path, true]);
        await one.leave(page);
      }
    }
  });
});
