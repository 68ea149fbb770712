// Every way into the console leads to the same page: by form, link, reload, another tab or a restored one, also where the
// browser stores nothing or translates the page. Signing out reaches every tab, wherever it is.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const rex = (page: Page) => page.getByRole("link", { name: "Rex" });
const keyField = (page: Page) => page.getByLabel("API key");
const signOut = (page: Page) => page.getByRole("button", { name: "Sign out" }).click();

async function enter(page: Page, key: string): Promise<void> {
  await keyField(page).fill(key);
  await page.keyboard.press("Enter");
}

/** Scripts that run before those of the page. Written as text, because the program's types know no browser. */
const browsers = {
  "that blocks site data": `for (const name of ["sessionStorage", "localStorage"])
    Object.defineProperty(window, name, { get() { throw new DOMException("Access is denied.", "SecurityError"); } })`,
  "without channels": "delete window.BroadcastChannel",
  "whose storage is full": `Storage.prototype.setItem = () => { throw new DOMException("Full.", "QuotaExceededError"); }`,
};

/** Puts every text into two elements, as Google's translator does, and does so again after each change. */
const translator = `addEventListener("DOMContentLoaded", () => {
  const translate = () => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let text; (text = texts.nextNode()); ) {
      const isOther = text.parentElement.closest("font, [translate=no], script, noscript");
      if (text.data.trim() && !isOther) found.push(text);
    }
    for (const text of found) {
      const [outer, inner] = [document.createElement("font"), document.createElement("font")];
      inner.textContent = "«" + text.data + "»";
      outer.append(inner);
      text.replaceWith(outer);
    }
  };
  translate();
  new MutationObserver(translate).observe(document.body, { childList: true, subtree: true, characterData: true });
})`;

const errorsOf = ({ errors }: TestBrowser) => errors.filter((error) => !/^Failed to load resource: .* 429/.test(error));

/** What the page of animals shows, without translation and the counts of requests, and how high it is. */
async function shownOn(page: Page): Promise<readonly [string, number]> {
  await rex(page).waitFor();
  await page.getByRole("cell", { name: "Dogs" }).first().waitFor(); // categories are another request
  const text = await page.evaluate<string>("document.body.innerText");
  const plain = text
    .replace(/[«»]/g, "")
    .replace(/[\d,]+ of [\d,]+ requests left/, "")
    .replaceAll(/\s+/g, " ");
  return [plain, await page.evaluate<number>("document.documentElement.scrollHeight")];
}

/** What the tab has stored. */
const held = (page: Page) => page.evaluate<string>("Object.values(sessionStorage).join()");

describe.skipIf(!hasBrowser)("the console", () => {
  let ui: TestConsole;
  const others: TestBrowser[] = [];
  /** Another browser, with an empty profile, in which a script runs before those of the page. */
  async function newBrowser(script = ""): Promise<TestBrowser> {
    const browser = await TestBrowser.start(undefined, script);
    others.push(browser);
    return browser;
  }
  const animals = () => `${ui.origin}/console/animals`;
  const link = (key = ui.key) => `${animals()}#key=${key}`;

  let expected: readonly [string, number];
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
    await ui.addPet({ name: "Rex", status: "available" });
    const page = await (await newBrowser()).open(link());
    expected = await shownOn(page);
  });
  afterAll(async () => {
    for (const browser of others) await browser.stop();
    await ui.stop();
  });

  test("is the same after a wrong key and the right one, after a reload and in a new tab", async () => {
    const browser = await newBrowser();
    const page = await browser.open(animals());
    await enter(page, "psk_test_nothing");
    await page.getByRole("alert").waitFor();
    await enter(page, ui.key);
    expect(await shownOn(page)).toEqual(expected);
    await page.reload();
    expect(await shownOn(page)).toEqual(expected);
    expect(await shownOn(await browser.open(animals()))).toEqual(expected);
  });

  test.each(Object.entries(browsers))("works in a browser %s, by form and by link", async (_which, script) => {
    const byForm = await (await newBrowser(script)).open(animals());
    await enter(byForm, ui.key);
    expect(await shownOn(byForm)).toEqual(expected);
    const browser = await newBrowser(script);
    const byLink = await browser.open(link());
    expect(await shownOn(byLink)).toEqual(expected);
    expect(byLink.url()).toBe(animals());
    await signOut(byLink);
    await keyField(byLink).waitFor();
    expect(errorsOf(browser)).toEqual([]);
  });

  test("has a reference page beside it in a browser that blocks site data", async () => {
    const browser = await newBrowser(browsers["that blocks site data"]);
    const page = await browser.open(ui.service.app.docs);
    await page.getByText("List all animals").first().waitFor();
    expect(errorsOf(browser)).toEqual([]);
  });

  test.each(["without channels", "that blocks site data"] as const)(
    "signs out all tabs of a browser %s",
    async (which) => {
      const browser = await newBrowser(browsers[which]);
      const [first, second] = [await browser.open(link()), await browser.open(link())];
      for (const page of [first, second]) await rex(page).waitFor();
      await signOut(second);
      for (const page of [first, second]) await keyField(page).waitFor();
    },
  );

  test("is signed out in a tab that another page has left and that comes back", async () => {
    const browser = await newBrowser();
    const [away, restored, here] = [await browser.open(link()), await browser.open(link()), await browser.open(link())];
    for (const page of [away, restored, here]) await rex(page).waitFor();
    const stored = await restored.evaluate<[string, string][]>("Object.entries(sessionStorage)");
    await restored.close();
    await away.goto("about:blank");
    await signOut(here);
    await keyField(here).waitFor();
    await away.goBack();
    await keyField(away).waitFor();
    // A browser that restores a tab gives it what its session storage had.
    const again = await browser.open("about:blank");
    await again.addInitScript(
      `for (const [name, value] of ${JSON.stringify(stored)}) sessionStorage.setItem(name, value)`,
    );
    await again.goto(animals());
    await keyField(again).waitFor();
    await keyField(await browser.open(animals())).waitFor(); // and none of them tells a new tab the key
    expect(await again.evaluate<string>("JSON.stringify([sessionStorage, localStorage])")).not.toContain(ui.key);
  });

  test("is signed out in a tab that no message has reached, when the browser shows it again", async () => {
    const browser = await newBrowser(`${browsers["without channels"]};
      addEventListener("storage", (event) => event.stopImmediatePropagation())`);
    const [away, here] = [await browser.open(link()), await browser.open(link())];
    for (const page of [away, here]) await rex(page).waitFor();
    await signOut(here);
    await keyField(here).waitFor();
    expect(await rex(away).isVisible()).toBe(true);
    // What a browser does that kept the page in its back/forward cache. This one keeps none while a test controls it.
    await away.evaluate(`dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })), 0`);
    await keyField(away).waitFor();
    expect(await away.evaluate<string>("JSON.stringify(sessionStorage)")).not.toContain(ui.key);
  });

  test("does not sign in with the key of a link while another key is signed in, unless the user agrees", async () => {
    const browser = await newBrowser();
    const first = await browser.open(link());
    await rex(first).waitFor();
    const other = await ui.service.newAccountWithKey("free");
    // One is opened in the tab, which keeps the page, the other in a new tab.
    for (const page of [first, await browser.open(link(other.key))]) {
      const dialog = page.getByRole("dialog", { name: /^Sign in as .+\?$/ });
      if (page === first) await page.goto(link(other.key));
      await dialog.waitFor();
      await rex(page).waitFor();
      expect(page.url()).toBe(animals());
      expect(await held(page)).toContain(ui.key);
      await page.keyboard.press("Enter"); // closes it: it is not the choice that is offered first
      await dialog.waitFor({ state: "detached" });
      await page.reload();
      expect(await shownOn(page)).toEqual(expected);
      await page.goto(link(other.key));
      await dialog.getByRole("button", { name: "Sign in" }).click();
      await rex(page).waitFor({ state: "detached" });
      await eventually(
        () => held(page),
        (key) => key.includes(other.key),
      );
      await page.goto(link());
      await rex(page).waitFor(); // the tab still has this key
    }
  });

  test("leaves no key in the addresses to which a tab can go back", async () => {
    const browser = await newBrowser();
    const page = await browser.open(link());
    await rex(page).waitFor();
    await page.evaluate(`location.hash = "key=${ui.key}"`);
    await page.waitForURL(animals());
    await page.goto(link());
    await rex(page).waitFor();
    const session = await page.context().newCDPSession(page);
    const { entries } = await session.send("Page.getNavigationHistory");
    expect(entries.filter(({ url }) => url.startsWith(ui.origin)).length).toBeGreaterThan(0);
    expect(entries.filter(({ url }) => url.includes(ui.key))).toEqual([]);
    await page.goBack();
    await rex(page).waitFor();
    expect(page.url()).toBe(animals());
  });

  test("keeps no response in the browser's cache", async () => {
    const browser = await newBrowser();
    const page = await browser.open(link());
    await rex(page).waitFor();
    const read = (address: string, cache: string) =>
      page.evaluate<number | string>(`fetch("${address}", {
        cache: "${cache}", mode: "same-origin", headers: { Authorization: "Bearer ${ui.key}" },
      }).then(({ status }) => status, () => "not cached")`);
    const asked = browser.requests.filter((address) => /\/v1\/(?!events\/stream)/.test(address));
    expect(asked.length).toBeGreaterThan(2);
    for (const address of asked) {
      expect([address, await read(address, "only-if-cached")]).toEqual([address, "not cached"]);
    }
    const one = asked.find((address) => address.includes("/v1/pets")) ?? "";
    expect(await read(one, "default")).toBe(200);
    expect(await read(one, "only-if-cached")).toBe(200); // without the console's precaution
  });

  test("shows what has changed when a browser translates it", async () => {
    const browser = await newBrowser(translator);
    const page = await browser.open(`${ui.origin}/console`);
    await enter(page, ui.key);
    await page.getByText("«Live»").waitFor();
    await page.getByText("«1 added today»").waitFor();
    const id = await ui.addPet({ name: "Bella", status: "available" });
    await page.getByText("«2 added today»").waitFor();
    await ui.goTo(page, "/animals");
    await page.getByRole("link", { name: "Bella", exact: true }).waitFor(); // names are not translated
    await ui.service.call("PATCH", `/pets/${id}`, { key: ui.key, body: { name: "Luna" } });
    await page.getByRole("link", { name: "Luna", exact: true }).waitFor();
    expect(await page.getByText("Bella").count()).toBe(0);
    await page.getByRole("link", { name: "Luna", exact: true }).click();
    await page.getByRole("heading", { name: "Luna", exact: true }).waitFor();
    await ui.service.call("PATCH", `/pets/${id}`, { key: ui.key, body: { name: "Ida" } });
    await page.getByRole("heading", { name: "Ida", exact: true }).waitFor();
    await page.goBack();
    await page.getByLabel("Category").getByRole("option", { name: /^Dogs/ }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "«Sold»" }).click();
    await rex(page).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "«All»" }).click();
    const plain = await (await newBrowser()).open(link());
    expect(await shownOn(page)).toEqual(await shownOn(plain));
    expect(errorsOf(browser)).toEqual([]);
  });
});
