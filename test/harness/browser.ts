import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

/** Debian's Chromium. Its package without windows is preferred, because tests take a quarter less CPU time with it. */
const [shell, whole] = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"] as const;
const executablePath = existsSync(shell) ? shell : whole;

/** Without a browser, tests of pages are skipped. */
export const hasBrowser = existsSync(executablePath);

/** The process of all browsers of this test process, with which it ends: starting one takes long. */
let shared: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--renderer-process-limit=1", // a process for each page takes a third of all CPU time
    ],
  });
}

/** A browser with an empty profile. Records the requests and errors of its pages. */
export class TestBrowser {
  readonly #context: BrowserContext;
  /** Addresses of all requests so far. */
  readonly requests: string[] = [];
  /** Errors and warnings that pages reported so far. */
  readonly errors: string[] = [];

  /** `script` runs in each page before those of the page. */
  static async start(viewport = { width: 1280, height: 900 }, script = "", locale = "en-GB"): Promise<TestBrowser> {
    const context = await (await (shared ??= launch())).newContext({ viewport, locale });
    // Shorter than the limit of a test: Bun kills the browser of a test that exceeds it, and the tests after it fail too.
    context.setDefaultTimeout(90_000);
    // The browser does not write every violation of a policy to its console.
    await context.addInitScript(
      `addEventListener("securitypolicyviolation", (event) =>
         console.error(\`\${event.effectiveDirective} forbids \${event.blockedURI}: \${event.sample}\`))`,
    );
    await context.addInitScript(script);
    return new TestBrowser(context);
  }

  private constructor(context: BrowserContext) {
    this.#context = context;
  }

  /** Opens an address in a new page. */
  async open(address: string): Promise<Page> {
    const page = await this.#context.newPage();
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("console", (message) => /^(error|warning)$/.test(message.type()) && this.errors.push(message.text()));
    page.on("pageerror", (error) => this.errors.push(error.message));
    await page.goto(address);
    return page;
  }

  async stop(): Promise<void> {
    await this.#context.close();
  }
}
