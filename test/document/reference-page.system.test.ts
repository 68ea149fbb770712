// The reference page as a person sees it, in a real browser.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { Type } from "typebox";
import { domains } from "../../src/app/domains.ts";
import { bind } from "../../src/contract/handler.ts";
import { defineOperation } from "../../src/contract/operation.ts";
import type { Domain } from "../../src/domains/domain.ts";
import { petOperations } from "../../src/domains/pets/pets.operations.ts";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { eventually } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";

const trial = {
  method: "GET",
  tag: { name: "trial", description: "Operations of this test.", stability: "experimental" },
  description: "An operation of this test.",
  response: { status: 200, description: "A word.", schema: Type.String(), examples: { word: "yes" } },
} as const;
const trials = [
  defineOperation({
    ...trial,
    name: "tryBeta",
    path: "/trial/beta",
    summary: "Beta trial",
    stability: "beta",
  }),
  defineOperation({
    ...trial,
    name: "tryExperiment",
    path: "/trial/experiment",
    summary: "Experimental trial",
    testPanel: { disabled: "it is only tried in this test" },
  }),
] as const;
function* yes() {
  return { body: "yes" };
}
const trialDomain: Domain = {
  name: "trials",
  operations: trials,
  open: () => bind(trials, { tryBeta: yes, tryExperiment: yes }),
};

/** An operation on the page: `TAG/NAME`. */
const operationOf = (page: Page, anchor: string): Locator => page.locator(`[id$="tag/${anchor}"]`);

const signedIn = (page: Page) => page.getByRole("button", { name: "Sign out" }).waitFor();

/** Waits until an operation is drawn. The page draws what is in view, and may move it away while it draws others. */
async function scrollTo(page: Page, anchor: string): Promise<Locator> {
  const operation = operationOf(page, anchor);
  await eventually(
    async () => {
      await page.evaluate(`document.querySelector('[id$="tag/${anchor}"]')?.scrollIntoView()`);
      return await operation.getByRole("heading").first().isVisible();
    },
    (isVisible) => isVisible,
  );
  return operation;
}

describe.skipIf(!hasBrowser)("the reference page", () => {
  let service: TestService;
  let browser: TestBrowser;
  let key: string;
  /** To draw a page takes four seconds of CPU time, so all tests share two: this one is only looked at. */
  let shared: Page;
  /** One for the tests that type a key, at `listPets`, from a link without its tag; then for a narrow screen. */
  let typed: Page;

  beforeAll(async () => {
    service = await TestService.start({ domains: [...domains, trialDomain] });
    key = await service.newKey();
    for (const name of ["Rex", "Bella"]) {
      await service.call("POST", "/pets", { key, body: { name, categoryId: 1, status: "available" } });
    }
    browser = await TestBrowser.start();
    const { headers } = await service.call("GET", "/pets/1", { key });
    shared = await browser.open(/<([^>]*)>; rel="deprecation"/.exec(headers.get("link") ?? "")?.[1] as string);
    typed = await browser.open(`${service.app.docs}#listPets`);
  });
  afterAll(async () => {
    await browser.stop();
    await service.stop();
  });

  test("shows that getPet is deprecated, its sunset date and its replacement, at the address in the Link header", async () => {
    const operation = operationOf(shared, "animals/getPet");
    await operation
      .getByText(/^deprecated$/i)
      .first()
      .waitFor();
    await operation.getByText("removed on 2030-12-05", { exact: true }).waitFor();
    await operation.getByText("listPets").waitFor();
    // Written as text, because the program's types know no browser.
    await shared.waitForFunction(
      `Math.abs(document.querySelector('[id$="tag/animals/getPet"]').getBoundingClientRect().top) < innerHeight / 2`,
    );
  });

  test("shows the heading of the authentication whole", async () => {
    const heading = shared.getByRole("button", { name: "Authentication" }).first();
    await heading.waitFor();
    expect(await heading.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });

  test("shows the stability of an operation", async () => {
    for (const [anchor, badge] of [
      ["trial/tryBeta", "beta"],
      ["trial/tryExperiment", "experimental"],
    ] as const) {
      const operation = await scrollTo(shared, anchor);
      await operation.getByText(new RegExp(`^${badge}$`, "i")).waitFor();
      const entry = shared.locator(`[data-sidebar-id$="tag/${anchor}"]`);
      await entry.getByRole("link", { name: new RegExp(`trial *${badge}`, "i") }).waitFor();
    }
  });

  test("has no test panel for an operation whose contract turns it off", async () => {
    const operation = await scrollTo(shared, "trial/tryExperiment");
    await operation.getByText("curl").first().waitFor(); // the example next to which the button would be
    expect(await operation.locator(".show-api-client-button").isVisible()).toBe(false);
    const reason = "No test panel: it is only tried in this test.";
    await operation.getByText(reason, { exact: true }).waitFor(); // in the description
    const place = '[id$="tag/trial/tryExperiment"] :has(> .show-api-client-button)'; // where the button would be
    const shown = await shared.evaluate(`getComputedStyle(document.querySelector('${place}'), "::before").content`);
    expect(shown).toBe(`"${reason}"`);

    const neighbour = await scrollTo(shared, "trial/tryBeta");
    await neighbour.locator(".show-api-client-button").click(); // visible: the control
    await shared.getByRole("dialog").getByRole("button", { name: "Send get request" }).first().waitFor();
    expect(await shared.locator(".scalar-sidebar-toggle").first().isVisible()).toBe(false);
    await shared.keyboard.press("Escape"); // closes the panel
  });

  test("lists the TypeScript client, and shows how to call an operation with it", async () => {
    await shared
      .getByText(`npm install ${new URL("client.tgz", service.app.docs).href}`)
      .first()
      .waitFor({ state: "attached" });
    const operation = await scrollTo(shared, "animals/createPet");
    await operation.getByRole("button", { name: "cURL" }).first().click();
    await shared.getByRole("option", { name: "petstore-client" }).first().click();
    await operation.getByText("petstore.createPet(").first().waitFor();
  });

  test("calls listPets with an entered key, and shows the animals", async () => {
    const operation = operationOf(typed, "animals/listPets");
    await operation.getByRole("heading").first().waitFor();
    expect(typed.url()).toContain("#tag/animals/listPets");
    await typed.getByPlaceholder("Token").first().fill(key);
    await operation.locator(".show-api-client-button").click();
    const panel = typed.getByRole("dialog");
    await panel.getByRole("button", { name: "Send get request" }).first().click();
    await panel.getByText('"Rex"').waitFor();
    await panel.getByText('"Bella"').waitFor();
    await panel.getByText("200 OK").waitFor();
    // Nothing is sent that the reader did not choose.
    expect(browser.requests.filter((address) => address.includes("/v1/pets"))).toEqual([`${service.app.base}/pets`]);
    await typed.keyboard.press("Escape");
  });

  test("copies an example, although its sandbox has no access to the clipboard", async () => {
    const operation = await scrollTo(shared, "animals/listPets");
    await operation.getByRole("button", { name: /copy/i }).last().click({ force: true }); // that of the example response
    const field = shared.getByPlaceholder("Token").first();
    await field.focus();
    await shared.keyboard.press("Control+v");
    expect(await field.inputValue()).toContain('"name": "Rex"');
    await field.fill("");
  });

  test("does not store an entered key", async () => {
    const entered = () => typed.getByPlaceholder("Token").first();
    await typed.clock.install();
    await entered().fill(key);
    await typed.clock.runFor(60_000); // the page writes down what it keeps some time later
    expect(await entered().inputValue()).toBe(key);
    const kept = await typed.evaluate<string[]>(`[localStorage, sessionStorage].flatMap((storage) =>
      Array.from({ length: storage.length }, (_, index) => storage.getItem(storage.key(index))))`);
    expect(kept.length).toBeGreaterThan(0); // in memory: see the next test
    expect(kept.join()).not.toContain(key.slice(-30));
    await typed.setViewportSize({ width: 390, height: 900 }); // for the test of this width
    await typed.reload();
    await entered().waitFor();
    expect(await entered().inputValue()).toBe("");
  });

  // The console has the same address. The script of the page comes from others.
  test("cannot reach the console: its storage, its tabs and the key that they tell each other", async () => {
    const { origin } = new URL(service.app.base);
    const name = `petstore-key ${service.app.base}`;
    const page = await browser.open(`${origin}/console#key=${key}`);
    await signedIn(page);
    const attacker = typed;
    const opened = attacker.context().waitForEvent("page");
    await attacker.evaluate(`{
      globalThis.heard = [];
      const channel = new BroadcastChannel("${name}");
      channel.onmessage = ({ data }) => heard.push(data);
      channel.postMessage({ kind: "ask" });
      globalThis.opened = open("${origin}/console");
    }`);
    const popup = await opened;
    await signedIn(popup); // it has asked, too, and was told the key
    expect(await attacker.evaluate("heard")).toEqual([]);
    const read = "(() => { try { return opened.document.body.innerText } catch { return undefined } })()";
    expect(await attacker.evaluate(read)).toBeUndefined();
    await page.goto(service.app.docs, { waitUntil: "commit" }); // in the tab whose session storage has the key
    // The browser denies access to any storage until the page's script has installed one in memory.
    const stored = `(() => { try { return sessionStorage.getItem("${name}") } catch { return null } })()`;
    expect(await page.evaluate(stored)).toBeNull();
    await page.goto(`${origin}/console`);
    await signedIn(page);
    await Promise.all([page.close(), popup.close()]);
  });

  test.each([1280, 390])("fits a screen of %d px and has no accessibility violations (axe-core)", async (width) => {
    const page = width === 390 ? typed : shared; // a panel is drawn for one width
    await page.setViewportSize({ width, height: 900 });
    // They are of each method and each stability.
    for (const { tag, name } of petOperations) await scrollTo(page, `${tag.name}/${name}`);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await operationOf(page, "animals/listPets").locator(".show-api-client-button").click();
    await page.getByRole("dialog").getByRole("button", { name: "Send get request" }).first().waitFor();
    expect(await accessibilityViolations(page, "[role=dialog]")).toEqual([]); // the rest has been looked at
    await page.keyboard.press("Escape");
  });

  test("sends no request to another host, and reports no error and no CSP violation", () => {
    const { origin } = new URL(service.app.base);
    expect(browser.requests.length).toBeGreaterThan(10);
    const elsewhere = browser.requests.filter(
      (address) => !address.startsWith(origin) && !/^(data|blob):/.test(address),
    );
    expect(elsewhere).toEqual([]);
    expect(browser.errors).toEqual([]);
  });

  describe("blocks by its Content-Security-Policy", () => {
    test.each([
      ["scripts that are put into it", "script-src-elem", 'add("script", { textContent: "globalThis.intruder = 1" })'],
      ["scripts of other sites", "script-src-elem", 'add("script", { src: "http://127.0.0.1:9/x.js" })'],
      ["texts that are run", "script-src", 'try { new Function("globalThis.intruder = 1")() } catch {}'],
      ["handlers that are put into it", "script-src-attr", 'add("a", {}).setAttribute("onclick", "0")'],
      ["pictures of other sites", "img-src", 'add("img", { src: "http://127.0.0.1:9/x.png?key" })'],
      ["frames", "frame-src", 'add("iframe", { src: "http://127.0.0.1:9/" })'],
      ["requests to other sites", "connect-src", 'fetch("http://127.0.0.1:9/?key").catch(() => {})'],
      ["workers", "worker-src", "new Worker(URL.createObjectURL(new Blob([])))"],
      ["forms that lead elsewhere", "form-action", 'add("form", { action: "http://127.0.0.1:9/" }).submit()'],
      ["another base of its addresses", "base-uri", 'add("base", { href: "http://127.0.0.1:9/" })'],
    ])("%s, and reports it", async (_what, directive, script) => {
      const before = browser.errors.length;
      // Later, because what a debugger evaluates itself may evaluate texts.
      await shared.evaluate(`
      const add = (name, properties) => {
        const element = Object.assign(document.createElement(name), properties);
        document.body.append(element);
        return element;
      };
      setTimeout(() => { ${script} });
      0`);
      await eventually(
        () => shared.evaluate("0"), // while the browser answers, its reports arrive
        () => browser.errors.slice(before).some((error) => error.startsWith(`${directive} forbids`)),
      );
      expect(await shared.evaluate("globalThis.intruder")).toBeUndefined();
    });

    test("framing by a page of another site", async () => {
      const other = Bun.serve({
        port: 0,
        fetch: () =>
          new Response(`<iframe src="${service.app.docs}"></iframe>`, { headers: { "Content-Type": "text/html" } }),
      });
      const framing = await browser.open(other.url.href);
      const frame = framing.frames().find((one) => one !== framing.mainFrame());
      expect(await frame?.evaluate("document.querySelector('#reference')").catch(() => null)).toBeNull();
      expect(await framing.frameLocator("iframe").locator("#reference").count()).toBe(0);
      await other.stop(true);
    });
  });
});

test("the page has every security header", async () => {
  const service = await TestService.start({ settings: { PETSTORE_STAGING_BASE_URL: "https://staging.shop.test/v1" } });
  const { origin } = new URL(service.app.base);
  const { headers } = await fetch(service.app.docs);
  expect(Object.fromEntries([...headers].filter(([name]) => !/^(content-length|date)$/.test(name)))).toEqual({
    "cache-control": "no-cache",
    "content-encoding": expect.any(String),
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; worker-src 'none'; " +
      `connect-src 'self' ${origin} https://staging.shop.test; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ` +
      "sandbox allow-scripts allow-forms allow-downloads allow-popups allow-popups-to-escape-sandbox",
    "content-type": "text/html; charset=utf-8",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    etag: expect.any(String),
    "permissions-policy": expect.stringContaining("camera=()"),
    "referrer-policy": "no-referrer",
    vary: "Accept-Encoding",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
  for (const page of ["/docs/start.js", "/openapi.json", "/openapi.yaml", "/healthz", "/readyz", "/metrics", "/"]) {
    const response = await fetch(origin + page, { redirect: "manual" });
    expect([page, response.headers.get("x-content-type-options")]).toEqual([page, "nosniff"]);
  }
  await service.stop();
});

test("the base address redirects to the page outside development", async () => {
  const service = await TestService.start({ settings: { PETSTORE_ENV: "staging" } });
  const { status, headers } = await fetch(new URL("/", service.app.base), { redirect: "manual" });
  expect([status, headers.get("location")]).toEqual([302, "/docs"]);
  await service.stop();
});

test("the page allows only the service's own scripts", async () => {
  const service = await TestService.start();
  const page = await fetch(service.app.docs);
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self';");
  const html = await page.text();
  const scripts = [...html.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)];
  expect(scripts).toHaveLength(2);
  for (const [, attributes = "", content] of scripts) {
    expect(content).toBe("");
    const address = /src="([^"]*)"/.exec(attributes)?.[1] as string;
    const script = await fetch(new URL(address, service.app.docs));
    expect([script.status, script.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
  }
  await service.stop();
});
