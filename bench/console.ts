// Measures the console in a browser: `npm run bench:console`. It is no test: machines differ.
import type { Page } from "playwright-core";
import { buildConsole } from "../src/app/web/build-console.ts";
import { TestBrowser } from "../test/harness/browser.ts";
import { numbers } from "../test/harness/numbers.ts";
import { TestService } from "../test/harness/service.ts";
import { median } from "./wrk.ts";

const ANIMALS = 100_000;
const ROUNDS = 7;
/** A longer task delays what the user sees, in milliseconds. */
const LONG_TASK = 50;
/** How much slower the processor of the browser is made for its first content. */
const SLOWDOWN = 4;
/** Pages of 50 animals that are turned. All 2,000 of them take minutes and show nothing more. */
const PAGES = 300;

/** Records when the first row of a table is shown, and the longest task since the start or since `longest` was set to 0. */
const watch = `
  window.longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
  }).observe({ type: "longtask", buffered: true });
  new MutationObserver((_, observer) => {
    if (!document.querySelector("td .title")) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.contentAt = performance.now())));
  }).observe(document, { childList: true, subtree: true });`;

/** Resolves to when the first row was shown, in milliseconds since the address was opened. */
const shown = `new Promise((resolve) => {
  const look = () => (window.contentAt ? resolve(window.contentAt) : requestAnimationFrame(look));
  look();
})`;

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly args: { readonly name?: string };
  /** CPU time of the event, in microseconds. */
  readonly tdur?: number;
}

/** The CPU time of each task of the page during some work, in milliseconds. It hardly depends on the load of the machine. */
async function cpuTimes(page: Page, work: () => Promise<unknown>): Promise<number[]> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send("Tracing.start", { traceConfig: { includedCategories: ["toplevel", "devtools.timeline"] } });
  await work();
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  const idOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const pages = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(idOf),
  );
  return events
    .filter((event) => event.name.endsWith("RunTask") && pages.has(idOf(event)))
    .map(({ tdur = 0 }) => tdur / 1000);
}

function report(what: string, values: readonly number[], target: number): void {
  const texts = values.map((value) => value.toFixed(0));
  console.log(`${what}: ${median(values).toFixed(0)} ms (target ${target}; ${texts.join(", ")})`);
}

/** The time until the first animals are shown or, with `isCounted`, the CPU time of all tasks until then. */
async function firstContent(address: string, isCounted = false): Promise<number> {
  const browser = await TestBrowser.start();
  try {
    const page = await browser.open("about:blank");
    await page.addInitScript(watch);
    if (isCounted) {
      const times = await cpuTimes(page, async () => {
        await page.goto(address);
        await page.evaluate(shown);
      });
      return times.reduce((sum, time) => sum + time, 0);
    }
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
    await page.goto(address);
    return await page.evaluate<number>(shown);
  } finally {
    await browser.stop();
  }
}

/** Goes from page to page, each time as soon as the next one is shown. */
async function turnPages(page: Page, count: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    let [turned, shown] = [0, ""];
    const turn = () => {
      const first = document.querySelector("td .title")?.getAttribute("href") ?? "";
      const next = [...document.querySelectorAll("[aria-label=Pages] button")].at(-1);
      if (first !== shown && next && !next.disabled) {
        shown = first;
        if (turned++ === ${count}) return resolve();
        setTimeout(() => next.click()); // a separate task, as when a person clicks
      }
      requestAnimationFrame(turn);
    };
    turn();
  })`);
}

/** The time from asking for a suggestion of the dialog of a sale until it is drawn. The pause before that is left out. */
async function suggestion(page: Page, name: string): Promise<number> {
  const drawn = page.evaluate<number>(`new Promise((resolve) => {
    const { fetch } = window;
    let asked = 0;
    window.fetch = (request) => {
      if (request.url.includes("search=")) asked = performance.now();
      return fetch(request);
    };
    const look = () => {
      if (!document.querySelector("[role=option]")?.textContent.startsWith("${name}")) return requestAnimationFrame(look);
      window.fetch = fetch;
      resolve(performance.now() - asked);
    };
    look();
  })`);
  await page.getByRole("dialog").getByLabel("Animal").fill(name);
  return drawn;
}

const service = await TestService.start();
try {
  const builds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await buildConsole();
    builds.push(performance.now() - start);
  }
  report("Build", builds, 300);

  const key = await service.newKey("enterprise", undefined, ["read", "write", "admin"]);
  const shop = await service.shop();
  await service.store.run(
    `${numbers(ANIMALS)}
     INSERT INTO pets (shop, id, name, category_id, status, added_at)
     SELECT ${shop}, n, 'Animal ' || n, n % 100 + 1, 'available', 0 FROM numbers;
     UPDATE shops SET last_pet_id = ${ANIMALS} WHERE shop = ${shop};`,
  );
  const address = `${new URL(service.app.base).origin}/console/animals#key=${key}`;
  await firstContent(address); // the service has compressed everything then
  const contents: number[] = [];
  for (let round = 0; round < ROUNDS; round++) contents.push(await firstContent(address));
  report(`First animals in a cold browser, its processor ${SLOWDOWN} × slower`, contents, 800);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await firstContent(address, true));
  report("CPU time of the page until then, without slowdown", times, 800 / SLOWDOWN);

  const browser = await TestBrowser.start();
  const page = await browser.open("about:blank");
  await page.addInitScript(watch);
  await page.goto(address);
  await page.evaluate(shown);
  await page.evaluate("window.longest = 0");
  const start = performance.now();
  await turnPages(page, PAGES);
  const each = ((performance.now() - start) / PAGES).toFixed(0);
  const longest = await page.evaluate<number>("window.longest");
  console.log(`${PAGES} pages of ${ANIMALS} animals: ${each} ms each`);
  report("Longest task while turning them (0: none took 50 ms)", [longest], LONG_TASK);
  const tasks = await cpuTimes(page, async () => {
    await turnPages(page, PAGES);
    for (const down of [600, 600, -1200]) await page.mouse.wheel(0, down);
    await page.getByLabel("Search by name, number or reference").pressSequentially("Animal 99999");
    await page.getByRole("link", { name: "Animal 99999" }).waitFor();
  });
  report("CPU time of the longest task of turning, scrolling and searching", [Math.max(...tasks)], LONG_TASK);
  console.log(`${tasks.filter((time) => time > LONG_TASK).length} of ${tasks.length} tasks took longer`);
  await page.getByRole("heading", { name: "Animals" }).click();
  await page.keyboard.press("s");
  const suggestions: number[] = [];
  for (let round = 0; round < ROUNDS; round++) suggestions.push(await suggestion(page, `Animal ${12_345 + round}`));
  report("A suggestion after the pause", suggestions, 100);
  await browser.stop();
} finally {
  await service.stop();
}
