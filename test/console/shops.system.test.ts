// One session with several shops: the sandbox and the live shop of an account, and another account.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { Mode, Scope } from "../../src/contract/caller.ts";
import type { IssuedKey } from "../../src/domains/keys/keys.ts";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { TestService } from "../harness/service.ts";

const keyField = (page: Page) => page.getByLabel("API key");
const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
/** Says which shop it is, and opens the list of the others. */
const shopOf = (page: Page) => page.locator("button.brand");
const animal = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const banner = (page: Page, text: string) => page.locator(".banner").filter({ hasText: text });
const shopIn = (page: Page) => new URL(page.url()).searchParams.get("shop");

/** Ends the session, so that the next test begins without it. */
async function leave(...pages: Page[]): Promise<void> {
  await button(pages[0] as Page, "Sign out").click();
  for (const page of pages) await keyField(page).waitFor();
  for (const page of pages) expect(await page.evaluate<number>("sessionStorage.length")).toBe(0);
  await Promise.all(pages.map((page) => page.close()));
}

describe.skipIf(!hasBrowser)("a session of the console with several shops", () => {
  let ui: TestConsole;
  let account: string;
  let live: IssuedKey;
  const issue = (mode: Mode, ...scopes: Scope[]) =>
    ui.service.app.keys.issueKey(account, "till", scopes, ui.service.clock.now(), mode);
  beforeAll(async () => {
    const service = await TestService.start({ settings: { PETSTORE_ENV: "production" } });
    const made = await service.newAccountWithKey("enterprise", undefined, ["read", "write"], "test");
    account = made.account.id;
    ui = await TestConsole.forService(service, made.key);
    live = await issue("live", "read", "write");
    for (const [key, name] of [
      [ui.key, "Sample"],
      [live.key, "Real"],
    ] as const) {
      await service.call("POST", "/categories", { key, body: { name: "Dogs" } });
      await service.call("POST", "/pets", { key, body: { name, categoryId: 1, status: "available" } });
    }
  });
  afterAll(() => ui.stop());

  /** A page of the sandbox, to which the live shop was added. It shows the live shop. */
  async function openBoth(path = "/animals"): Promise<Page> {
    const page = await ui.open(path);
    await animal(page, "Sample").waitFor();
    expect(shopIn(page)).toBeNull(); // addresses stay short while there is only one
    await shopOf(page).click();
    await button(page, "Add a shop…").click();
    await keyField(page).fill(live.key);
    await page.keyboard.press("Enter");
    await animal(page, "Real").waitFor();
    return page;
  }

  test("switches between them, and the address and the banner tell which one it is", async () => {
    const page = await openBoth();
    await banner(page, "Live shop: Test").waitFor();
    expect(shopIn(page)).toBe(`${account}-live`);
    await shopOf(page).click();
    await button(page, /· Sandbox$/).click();
    await animal(page, "Sample").waitFor(); // the same page of the other shop
    await banner(page, "Sandbox: nothing here is real.").waitFor();
    expect([shopIn(page), await animal(page, "Real").count()]).toEqual([`${account}-test`, 0]);
    await animal(page, "Sample").click();
    await page.getByRole("heading", { name: "Sample" }).waitFor();
    for (const _ of ["the list", "the live shop"]) await page.goBack();
    await animal(page, "Real").waitFor();
    await page.reload();
    await animal(page, "Real").waitFor();
    await leave(page);
  });

  test("goes back to the shop of a page from the time when it was the only one", async () => {
    const page = await ui.open("/animals/1");
    await page.getByRole("heading", { name: "Sample" }).waitFor();
    await shopOf(page).click();
    await button(page, "Add a shop…").click();
    await keyField(page).fill(live.key);
    await page.keyboard.press("Enter");
    await animal(page, "Real").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Sample" }).waitFor();
    await banner(page, "Sandbox: nothing here is real.").waitFor();
    expect(shopIn(page)).toBe(`${account}-test`);
    await leave(page);
  });

  test("gives them to a new tab, which follows the address, and ends in all tabs", async () => {
    const page = await openBoth();
    const other = await ui.browser.open(page.url().replace("-live", "-test"));
    await animal(other, "Sample").waitFor();
    await shopOf(other).click();
    await button(other, /· Live shop$/).click();
    await animal(other, "Real").waitFor();
    await leave(other, page);
  });

  test("does not show an address of a shop without a key, and asks for one", async () => {
    const page = await ui.open(`/animals/1?shop=${account}-live`);
    await page.getByText("This address belongs to another shop.").waitFor();
    expect(await page.getByRole("heading", { name: "Sample" }).count()).toBe(0);
    await button(page, "Sign in to it").click();
    await keyField(page).fill(live.key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Real" }).waitFor();
    await leave(page);
  });

  test("goes on with the others when a key is revoked", async () => {
    const page = await openBoth();
    const admin = await issue("live", "admin");
    await ui.service.call("DELETE", `/keys/${live.record.id}`, { key: admin.key });
    await page.getByRole("alert").getByText("Sign in with another key.").waitFor();
    await button(page, /^Back to .*Sandbox$/).click();
    await animal(page, "Sample").waitFor();
    live = await issue("live", "read", "write");
    await leave(page);
  });

  test.each([1280, 390])("is used by keyboard, and axe-core reports nothing (%d px)", async (width) => {
    const one = await TestConsole.forService(ui.service, ui.key, width);
    const page = await one.open("/animals");
    await animal(page, "Sample").waitFor();
    await shopOf(page).focus();
    await page.keyboard.press("Enter");
    await button(page, "Add a shop…").waitFor(); // it has the focus
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await keyField(page).waitFor();
    await button(page, /^Back to/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await one.browser.stop();
  });
});
