// The reference page as a person sees it, in a real browser.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { type Domain, domains } from "../src/app.ts";
import { bind, defineOperation } from "../src/contract/operation.ts";
import { hasBrowser, TestBrowser } from "./harness/browser.ts";
import { TestService } from "./harness/service.ts";

const shared = {
  method: "GET",
  tag: { name: "trial", description: "Operations of this test." },
  description: "An operation of this test.",
  scope: "read",
  answer: { status: 200, description: "A word.", schema: Type.String(), examples: { word: "yes" } },
  errors: [],
} as const;
const trials = [
  defineOperation({
    ...shared,
    name: "tryBeta",
    path: "/trial/beta",
    summary: "Beta trial",
    stability: "beta",
    testPanel: true,
  }),
  defineOperation({
    ...shared,
    name: "tryExperiment",
    path: "/trial/experiment",
    summary: "Experimental trial",
    stability: "experimental",
    testPanel: false,
  }),
] as const;
const trialDomain: Domain = {
  operations: trials,
  open: () => bind(trials, { tryBeta: () => ({ body: "yes" }), tryExperiment: () => ({ body: "yes" }) }),
};

describe.skipIf(!hasBrowser)("the reference page", () => {
  let service: TestService;
  let browser: TestBrowser;
  let key: string;

  beforeAll(async () => {
    service = await TestService.start({ domains: [...domains, trialDomain] });
    key = await service.newKey();
    for (const name of ["Rex", "Bella"]) {
      await service.call("POST", "/pets", { key, body: { name, categoryId: 1, status: "available" } });
    }
    browser = await TestBrowser.start();
  });
  afterAll(async () => {
    await browser.stop();
    await service.stop();
  });

  /** The page, at an operation of a tag. */
  async function openAt(anchor: string) {
    const page = await browser.open(`${service.app.docs}#tag/${anchor}`);
    const operation = page.locator(`[id$="tag/${anchor}"]`);
    const button = operation.locator(".show-api-client-button");
    await operation.getByRole("heading").first().waitFor();
    return { page, operation, button };
  }

  test("calls listPets with a key that is entered, and shows the animals", async () => {
    const { page, button } = await openAt("animals/listPets");
    await page.getByPlaceholder("Token").first().fill(key);
    await button.click();
    const panel = page.getByRole("dialog");
    await panel.getByRole("button", { name: "Send get request" }).first().click();
    await panel.getByText('"Rex"').waitFor();
    await panel.getByText('"Bella"').waitFor();
    await panel.getByText("200 OK").waitFor();
    expect(browser.requests).toContainEqual(expect.stringMatching(/\/v1\/pets\?limit=20/));
    await page.close();
  });

  test("has no test panel for an operation whose contract switches it off", async () => {
    const { page, operation, button } = await openAt("trial/tryExperiment");
    await operation.getByText("curl").first().waitFor(); // the example beside which the button would be
    expect(await button.isVisible()).toBe(false);
    await page.close();

    const neighbour = await openAt("trial/tryBeta");
    await neighbour.button.waitFor(); // visible: the control
    await neighbour.button.click();
    await neighbour.page.getByRole("dialog").getByRole("button", { name: "Send get request" }).first().waitFor();
    expect(await neighbour.page.locator(".scalar-sidebar-toggle").first().isVisible()).toBe(false);
    await neighbour.page.close();
  });

  test("shows how stable an operation is", async () => {
    for (const [anchor, badge] of [
      ["trial/tryBeta", "beta"],
      ["trial/tryExperiment", "experimental"],
    ] as const) {
      const { page, operation } = await openAt(anchor);
      await operation.getByText(new RegExp(`^${badge}$`, "i")).waitFor();
      await page.close();
    }
  });

  test("shows that getPet is deprecated, until when, and what replaces it, where answers link to", async () => {
    const { headers } = await service.call("GET", "/pets/1", { key });
    const address = /<([^>]*)>; rel="deprecation"/.exec(headers.get("link") ?? "")?.[1] as string;
    const page = await browser.open(address);
    const operation = page.locator('[id$="tag/animals/getPet"]');
    await operation
      .getByText(/^deprecated$/i)
      .first()
      .waitFor();
    await operation.getByText("removed on 2030-12-05", { exact: true }).waitFor();
    await operation.getByText("listPets").waitFor();
    // Written as text, because the program's types know no browser.
    await page.waitForFunction(
      `Math.abs(document.querySelector('[id$="tag/animals/getPet"]').getBoundingClientRect().top) < innerHeight / 2`,
    );
    await page.close();
  });

  test("can be read on a telephone", async () => {
    const small = await TestBrowser.start({ width: 390, height: 844 });
    const page = await small.open(`${service.app.docs}#tag/animals/listPets`);
    await page.locator('[id$="tag/animals/listPets"]').getByRole("heading").first().waitFor();
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
    expect(small.errors).toEqual([]);
    await small.stop();
  });

  test("asked no other host for anything, and reported no error", () => {
    const { origin } = new URL(service.app.base);
    expect(browser.requests.length).toBeGreaterThan(10);
    const elsewhere = browser.requests.filter(
      (address) => !address.startsWith(origin) && !/^(data|blob):/.test(address),
    );
    expect(elsewhere).toEqual([]);
    expect(browser.errors).toEqual([]);
  });
});

test("the bare address leads to the page", async () => {
  const service = await TestService.start();
  const { status, headers } = await fetch(new URL("/", service.app.base), { redirect: "manual" });
  expect([status, headers.get("location")]).toEqual([302, "/docs"]);
  await service.stop();
});

test("the page allows no script but the service's own", async () => {
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
