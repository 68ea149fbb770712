// What every page of the console looks like from outside: nothing blank above or below it, nothing cut off. The pictures
// are kept in the folder TEST_PICTURES, and otherwise in a temporary one if a page is wrong.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { sampleShop } from "../../scripts/sample-shop.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const source = await Bun.file(join(import.meta.dir, "../../console/src/frame/pages.ts")).text();
/** The paths of all pages, with `:name` for parameters. The module itself needs a browser. */
const paths = [...source.matchAll(/\bpath: "([^"]*)"/g)].map(([, path]) => path as string);

/** The most that may be empty above, within or below the content of a page, in CSS pixels. */
const MARGIN = 130;

/** Written as text, because the program's types know no browser. The list of pages and what covers the page are left out. */
const measure = `(() => {
  const boxes = [];
  const add = (box) => box.height > 1 && boxes.push(box);
  const isLaidOver = (element) => element.closest(".pages, .bar, .unseen, .skip, .toasts, dialog, noscript, option");
  const all = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node; (node = all.nextNode()); ) {
    if (isLaidOver(node.parentElement) || (node.nodeType === 1 && isLaidOver(node))) continue;
    if (node.nodeType === 1 && node.matches("button, input, select, img, svg, meter")) add(node.getBoundingClientRect());
    if (node.nodeType !== 3 || !node.data.trim()) continue;
    const range = document.createRange();
    range.selectNode(node);
    for (const box of range.getClientRects()) add(box);
  }
  const { scrollHeight, scrollWidth } = document.documentElement;
  let gap = 0, end = 0;
  boxes.sort((one, other) => one.top - other.top);
  for (const { top, bottom } of boxes) {
    if (end > 0) gap = Math.max(gap, top + scrollY - end);
    end = Math.max(end, bottom + scrollY);
  }
  return { above: boxes[0].top + scrollY, gap, end, scrollHeight, scrollWidth, innerHeight, innerWidth };
})()`;

interface Measured {
  /** What is empty above the content. */
  readonly above: number;
  /** The largest empty space within it. */
  readonly gap: number;
  /** Where it ends. */
  readonly end: number;
  readonly scrollHeight: number;
  readonly scrollWidth: number;
  readonly innerHeight: number;
  readonly innerWidth: number;
}

describe.skipIf(!hasBrowser)("each page of the console", () => {
  let key: string;
  let service: TestConsole["service"];
  let stop: () => Promise<void>;
  /** The values of the parameters in paths. */
  let values: Record<string, string>;
  const folder = process.env["TEST_PICTURES"] ?? mkdtempSync(join(tmpdir(), "petstore-pages-"));
  let wrong = 0;

  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    const shop = await sampleShop();
    const { webhooks, endpointId, petId } = shop;
    ({ key } = shop);
    ({ service } = webhooks);
    stop = () => webhooks.stop();
    const requests = await eventually(
      () => service.call("GET", "/requests?limit=1", { key }), // they are written in batches
      ({ json }) => json.length > 0,
    );
    values = { petId, orderId: "1", eventId: "1", requestId: requests.json[0].id, endpointId, deliveryId: "1" };
  });
  afterAll(async () => {
    await stop();
    if (wrong === 0 && !process.env["TEST_PICTURES"]) rmSync(folder, { recursive: true });
  });

  /** Takes a picture of the page, and looks for what is wrong with its size. */
  async function faultsOf(page: Page, name: string): Promise<string[]> {
    const file = join(folder, `${name.replace(/\W+/g, "-").replace(/^-/, "")}.png`);
    await page.screenshot({ path: file, fullPage: true, animations: "disabled" });
    const { above, gap, end, scrollHeight, scrollWidth, innerHeight, innerWidth } =
      await page.evaluate<Measured>(measure);
    const isCentred = Math.abs(above - (innerHeight - end)) <= 2;
    const faults = [
      above > MARGIN && !isCentred && `${above} px above the content are empty`,
      gap > MARGIN && `${gap} px within the content are empty`,
      scrollHeight > Math.max(innerHeight, end + MARGIN) && `${scrollHeight - end} px below the content are empty`,
      scrollWidth > innerWidth && `it is ${scrollWidth} px wide`,
    ];
    const found = faults.filter((fault) => typeof fault === "string");
    wrong += found.length;
    return found.map((fault) => `${name}: ${fault} (${file})`);
  }

  test("is among those that are looked at", () => {
    expect(paths.length).toBe(source.match(/\bview:/g)?.length as number);
    expect(paths.length).toBeGreaterThan(10);
  });

  test.each([1280, 390])("is as high as its content, and no wider than the screen, at %d px", async (width) => {
    const ui = await TestConsole.forService(service, key, width);
    try {
      const signIn = await ui.browser.open(`${ui.origin}/console`);
      await signIn.getByLabel("API key").waitFor();
      const faults = await faultsOf(signIn, `sign-in ${width}`);
      await signIn.close();
      const page = await ui.open();
      for (const path of [...paths, "/no/such/page"]) {
        const address = path.replace(/:(\w+)/g, (_all, name: string) => values[name] ?? `no-example-of-${name}`);
        await ui.goTo(page, address);
        await page.locator("main h1").waitFor();
        await page.locator(":root:has(.skeleton)").waitFor({ state: "detached" });
        const isUnknown = await page.getByRole("heading", { name: "Nothing here" }).isVisible();
        expect([path, isUnknown]).toEqual([path, path === "/no/such/page"]);
        expect([path, await page.getByRole("alert").count()]).toEqual([path, 0]);
        const reference = page.locator("main > a[href*='/docs#']");
        const isForStaff = /^\/($|animals|orders|sales|categories)/.test(path); // who read no reference
        expect([path, await reference.count()]).toEqual([path, isUnknown || isForStaff ? 0 : 1]);
        faults.push(...(await faultsOf(page, `${path === "/" ? "/today" : path} ${width}`)));
      }
      expect(faults).toEqual([]);
    } finally {
      await ui.browser.stop();
    }
  });
});
