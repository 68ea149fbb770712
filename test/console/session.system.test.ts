// Signing in and out, what is around every page, and what the reader is told when something is wrong.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";

const rex = (page: Page) => page.getByRole("link", { name: "Rex" });
const keyField = (page: Page) => page.getByLabel("API key");
/** The key that the tab has stored. */
const storage = (page: Page) =>
  page.evaluate<string | null>("JSON.parse(Object.values(sessionStorage)[0] ?? '[]')[1]?.at(-1).secret ?? null");

describe.skipIf(!hasBrowser)("in the console", () => {
  let ui: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
    await ui.addPet({ name: "Rex", status: "available" });
  });
  afterAll(() => ui.stop());

  test("a link with a key signs in, and the key leaves the address at once", async () => {
    const page = await ui.open("/animals?sort=id");
    await rex(page).waitFor();
    expect(page.url()).toBe(`${ui.origin}/console/animals?sort=id`);
    await page.reload();
    await rex(page).waitFor(); // the tab remembers the key
    // Other tabs only learn from it that this one is signed in, not with which key.
    expect(await page.evaluate<string>("JSON.stringify(localStorage) + document.cookie")).not.toContain(ui.key);
    await page.close();
  });

  test("a link with a key that is opened in a signed-out tab of the console signs in with that key", async () => {
    const page = await ui.open("/animals");
    await page.getByRole("button", { name: "Sign out" }).click();
    await keyField(page).waitFor();
    const key = await ui.keyWith("read");
    await page.evaluate(`location.hash = "key=${key}"`); // as if the link was typed into the address
    await page.waitForURL(`${ui.origin}/console/animals`);
    await rex(page).waitFor();
    expect(await storage(page)).toBe(key);
    await page.close();
  });

  test("a key stays with its service, although another one has the same origin", async () => {
    const page = await ui.open("/animals");
    await rex(page).waitFor();
    const other = await ui.browser.open("about:blank");
    await other.route(/\/api\//, async (route) => {
      const url = route.request().url().replace("/api/", "/");
      if (!url.includes("/console/animals")) return route.continue({ url });
      const response = await route.fetch({ url });
      return route.fulfill({ response, body: (await response.text()).replaceAll('"/console/', '"/api/console/') });
    });
    await other.goto(`${ui.origin}/api/console/animals`);
    await keyField(other).fill(ui.key);
    await other.keyboard.press("Enter");
    await rex(other).waitFor();
    await other.getByRole("button", { name: "Sign out" }).click();
    await keyField(other).waitFor();
    await page.reload();
    await rex(page).waitFor();
    await Promise.all([page.close(), other.close()]);
  });

  test("a key is typed in; one that the service does not know is refused with what to do", async () => {
    const page = await ui.browser.open(`${ui.origin}/console/animals`);
    await keyField(page).fill("psk_test_nothing");
    await page.keyboard.press("Enter");
    const alert = page.getByRole("alert");
    await alert.getByText("Sign in with another key.").waitFor();
    await alert.getByText("invalid_api_key").waitFor();
    expect(await alert.innerText()).toMatch(/Request [\w-]+/);
    expect(await storage(page)).toBeNull();
    await keyField(page).fill(ui.key);
    await page.keyboard.press("Enter");
    await rex(page).waitFor();
    await page.close();
  });

  test("a key with a character that no key has is malformed", async () => {
    const page = await ui.browser.open(`${ui.origin}/console/animals#key=psk_test%0Aabc`);
    const alert = page.getByRole("alert");
    await alert.getByText("The key is malformed").waitFor();
    await keyField(page).fill("");
    for (const key of ["psk_test_a b", "psk_test_a–b", "ключ"]) {
      await keyField(page).fill(key);
      await page.keyboard.press("Enter");
      await alert.getByText("The key is malformed").waitFor();
      await alert.getByText("Sign in with another key.").waitFor();
      expect(await alert.innerText()).not.toContain("TypeError");
    }
    await page.close();
  });

  test("a new tab gets the key of an open one, and signing out signs all tabs out", async () => {
    const first = await ui.open("/animals");
    await rex(first).waitFor();
    const second = await ui.browser.open(`${ui.origin}/console/animals`);
    await rex(second).waitFor();
    await second.getByRole("button", { name: "Sign out" }).click();
    await keyField(second).waitFor();
    await keyField(first).waitFor();
    expect([await storage(first), await storage(second)]).toEqual([null, null]);
    await Promise.all([first.close(), second.close()]);
  });

  test("a revoked key does not sign out a tab with another key, and signing out does", async () => {
    const body = { name: "till", scopes: ["read"] };
    const { json: till } = await ui.service.call("POST", "/keys", { key: ui.key, body });
    const [first, second] = [await ui.open("/animals"), await ui.open("/animals", { key: till.key })];
    for (const page of [first, second]) await rex(page).waitFor();
    await ui.service.call("DELETE", `/keys/${till.id}`, { key: ui.key });
    await keyField(second).waitFor();
    await second.reload(); // asks the first tab for its key
    await rex(second).waitFor();
    const third = await ui.open("/animals", { key: await ui.keyWith("read") });
    await rex(third).waitFor();
    await third.getByRole("button", { name: "Sign out" }).click();
    for (const page of [first, second, third]) await keyField(page).waitFor();
    await Promise.all([first.close(), second.close(), third.close()]);
  });

  test("what the key does not permit is not shown", async () => {
    const reader = await ui.open("/animals", { key: await ui.keyWith("read") });
    await rex(reader).waitFor();
    for (const name of ["Add animal", "More for Rex", "Sell", "Select Rex"]) {
      expect([name, await reader.getByLabel(name).count(), await reader.getByText(name).count()]).toEqual([name, 0, 0]);
    }
    await reader.close();
    const writer = await ui.open("/animals", { key: await ui.keyWith("write") });
    await writer.getByText("your key may not see it").waitFor();
    expect(await writer.getByRole("link", { name: "Animals" }).count()).toBe(0);
    await writer.close();
  });

  test("a sandbox says that it is one", async () => {
    const page = await ui.open("/animals");
    await page.getByText("Sandbox: nothing here is real.").waitFor();
    await page.close();
  });

  test("shortcuts are listed on ? and lead from page to page", async () => {
    const page = await ui.open("/nowhere");
    await page.getByText("No page has this address").waitFor();
    await page.keyboard.type("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Go to Animals").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.type("ga");
    await rex(page).waitFor();
    await page.goBack();
    await page.getByText("No page has this address").waitFor();
    await page.goForward();
    await rex(page).waitFor();
    await page.close();
  });

  test("a lost connection is shown, and what is shown is read again when it is back", async () => {
    const page = await ui.open("/animals");
    await rex(page).waitFor();
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Sold", exact: true }).click();
    const banner = page.getByText("No connection to the service.");
    await banner.waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await rex(page).waitFor(); // what is known stays
    await ui.addPet({ name: "Bella", status: "available" });
    await page.context().setOffline(false);
    await page.getByRole("link", { name: "Bella" }).waitFor();
    await banner.waitFor({ state: "detached" });
    await page.close();
  });

  test("a revoked key ends the session, and the page says so", async () => {
    const body = { name: "till", scopes: ["read"] };
    const { json: till } = await ui.service.call("POST", "/keys", { key: ui.key, body });
    const page = await ui.open("/animals", { key: till.key });
    await rex(page).waitFor();
    // The event stream ends with the key, so the page learns of it without a click.
    await ui.service.call("DELETE", `/keys/${till.id}`, { key: ui.key });
    await page.getByRole("alert").getByText("Sign in with another key.").waitFor();
    expect(await storage(page)).toBeNull();
    await page.close();
  });

  test.each([
    ["rate_limit_exceeded", "Too many requests."],
    ["key_banned", "The key is banned."],
    ["storage_unavailable", "The service is not available."],
    ["overloaded", "The service is not available."],
  ])("%s is explained with the time until which it lasts", async (code, title) => {
    const page = await ui.open("/animals");
    await rex(page).waitFor();
    await page.route(/\/v1\/pets/, (route) =>
      route.continue({ headers: { ...route.request().headers(), "petstore-simulate": code } }),
    );
    await page.getByRole("button", { name: "Sold", exact: true }).click();
    await page
      .locator(".banner.bad")
      .filter({ hasText: title })
      .filter({ hasText: /The console continues automatically in \d+:\d\d/ })
      .waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  test("a key that must wait also waits after its user has signed in again", async () => {
    const key = await ui.service.newKey("enterprise", { perMinute: 40, perDay: 1_000 }, ["read"]);
    const page = await ui.open("/animals", { key });
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    while ((await ui.service.call("GET", "/pets", { key })).status === 200); // another program uses it, too
    await page.getByRole("button", { name: "Sold", exact: true }).click();
    const banner = page.getByText("Too many requests.");
    await banner.waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    const sent: string[] = [];
    page.on("request", (request) => sent.push(new URL(request.url()).pathname));
    await keyField(page).fill(key);
    await page.keyboard.press("Enter");
    await banner.waitFor();
    expect(sent.filter((path) => !/^.v1.key$/.test(path))).toEqual([]); // this costs no quota
    await page.close();
  });

  test.each(["rate_limit_exceeded", "key_banned"])(
    "%s is shown also after requests that cost no quota",
    async (code) => {
      const page = await ui.open("/animals");
      await rex(page).waitFor();
      await page.route(/\/v1\/pets/, (route) =>
        route.continue({ headers: { ...route.request().headers(), "petstore-simulate": code } }),
      );
      await page.getByRole("button", { name: "Sold", exact: true }).click();
      await page.locator(".banner.bad").waitFor();
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.keyboard.type("gr");
      await page.getByRole("table", { name: "Requests" }).getByRole("link").first().waitFor();
      expect(await page.locator(".banner.bad").count()).toBe(1);
      await page.close();
    },
  );

  test("axe-core reports nothing on signing in or on ?", async () => {
    const page = await ui.browser.open(`${ui.origin}/console`);
    await keyField(page).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await keyField(page).fill(ui.key);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.keyboard.type("?");
    await page.getByRole("dialog").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.close();
  });
});
