import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { MESSAGE_TIME } from "../../console/src/ui/message-time.ts";
import type { Scope } from "../../src/contract/caller.ts";
import { TestBrowser } from "./browser.ts";
import { eventually } from "./program.ts";
import { type TestOptions, TestService } from "./service.ts";

/** What a browser itself reports of an error response. The page cannot prevent it. */
const reportedResponse = /^Failed to load resource: /;

/** Waits until today's page receives events. */
export const untilLive = (page: Page) => page.getByText("Live", { exact: true }).waitFor();

/** Opens the list of actions of an animal, and chooses one. */
export async function choose(page: Page, action: string, name: string): Promise<void> {
  await page.getByRole("button", { name: `More for ${name}`, exact: true }).click();
  await page.getByRole("button", { name: `${action} ${name}`, exact: true }).click();
}

/** Deletes an animal, after the question whether to. */
export async function remove(page: Page, name: string): Promise<void> {
  await choose(page, "Delete…", name);
  await page
    .getByRole("dialog", { name: `Delete ${name}?` })
    .getByRole("button", { name: "Delete" })
    .click();
}

/** Corrects the status of an animal. */
export async function correctStatus(page: Page, name: string, status: string): Promise<void> {
  await choose(page, "Correct status…", name);
  await page.getByRole("dialog").getByLabel("Status").selectOption(status);
  await page.getByRole("dialog").getByRole("button", { name: "Correct" }).click();
}

/** Messages stay until they are dismissed. On a slow machine they would otherwise disappear before a test reads them. */
const keepMessages = `{
  const { setInterval } = window;
  window.setInterval = (work, wait) => (wait === ${MESSAGE_TIME} ? 0 : setInterval(work, wait));
}`;

/** The console of a test service in a browser, with a key that may do everything. */
export class TestConsole {
  readonly service: TestService;
  readonly browser: TestBrowser;
  readonly key: string;
  readonly origin: string;
  /** Pages that are signed in with `key`, and in which no test is. */
  readonly #left: Page[] = [];

  static async start(options: TestOptions & { readonly width?: number } = {}): Promise<TestConsole> {
    const service = await TestService.start(options);
    const key = await service.newKey("enterprise", undefined, ["read", "write", "admin"]);
    return TestConsole.forService(service, key, options.width);
  }

  /** The console of a service that a test has started. `stop` stops that service too. */
  static async forService(service: TestService, key: string, width = 1280): Promise<TestConsole> {
    const viewport = { width, height: width < 500 ? 844 : 900 };
    return new TestConsole(service, await TestBrowser.start(viewport, keepMessages), key);
  }

  private constructor(service: TestService, browser: TestBrowser, key: string) {
    this.service = service;
    this.browser = browser;
    this.key = key;
    this.origin = new URL(service.app.base).origin;
  }

  /** Opens a page of the console, signed in by a link. If another page is signed in with another key, agrees to this one. */
  async open(path = "", { key = this.key }: { key?: string } = {}): Promise<Page> {
    const left = key === this.key ? this.#left.pop() : undefined;
    const page = left ?? (await this.browser.open("about:blank"));
    await page.goto(`${this.origin}/console${path}#key=${key}`);
    const isReady = `document.querySelector("dialog, .sign-in") !== null || Object.values(sessionStorage).join().includes("${key}")`;
    await eventually(
      () => page.evaluate<boolean>(isReady),
      (ready) => ready,
    );
    const dialog = page.getByRole("dialog", { name: /^Sign in as/ });
    if (await dialog.isVisible()) await dialog.getByRole("button", { name: "Sign in" }).click();
    return page;
  }

  /** Leaves a page of `open` to the next test, as if it were closed: a new one takes twice the CPU time. */
  async leave(page: Page): Promise<void> {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.goto("about:blank");
    this.#left.push(page);
  }

  /** Opens a page of the console and waits until it receives events. It shows all that follow. */
  async openLive(path = ""): Promise<Page> {
    const page = await this.open();
    await untilLive(page);
    await this.goTo(page, path);
    return page;
  }

  /** Leads to another page of the console, as a link in it does: without a new start. */
  async goTo(page: Page, path: string): Promise<void> {
    await page.evaluate(`{
      const address = new URL("/console${path}", location);
      const shop = new URLSearchParams(location.search).get("shop");
      if (shop) address.searchParams.set("shop", shop);
      history.pushState({}, "", address);
      dispatchEvent(new PopStateEvent("popstate"));
    }`);
  }

  /** A key of the same shop with these scopes only. */
  keyWith(...scopes: Scope[]): Promise<string> {
    return this.service.newKey("enterprise", undefined, scopes);
  }

  /** Adds an animal and returns its id. */
  async addPet(body: Record<string, unknown>): Promise<number> {
    const { json } = await this.service.call("POST", "/pets", { key: this.key, body: { categoryId: 1, ...body } });
    return json.id as number;
  }

  /** Adds a category and returns its id. */
  async addCategory(name: string): Promise<number> {
    return (await this.service.call("POST", "/categories", { key: this.key, body: { name } })).json.id as number;
  }

  /** Ends the test. Fails if a page has reported an error or sent a request to another host. */
  async stop(): Promise<void> {
    await this.browser.stop();
    await this.service.stop();
    expect(this.browser.errors.filter((text) => !reportedResponse.test(text))).toEqual([]);
    expect(this.browser.requests.filter((address) => !address.startsWith(this.origin))).toEqual([]);
  }
}

/** Presses a shortcut until it has opened a dialog: a page that is not drawn yet does not listen. */
export async function pressFor(page: Page, key: string, dialog: string): Promise<void> {
  const isOpen = () => page.getByRole("dialog", { name: dialog, exact: true }).isVisible();
  await eventually(async () => {
    if (!(await isOpen())) await page.keyboard.press(key);
    return isOpen();
  });
}
