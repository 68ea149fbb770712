import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";

/** Debian's Chromium. Its package without windows is preferred, because tests take a quarter less CPU time with it. */
const [shell, whole] = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"] as const;
const executablePath = existsSync(shell) ? shell : whole;

/** Without a browser, tests of pages are skipped. */
export const hasBrowser = existsSync(executablePath);

/** A browser with an empty profile. Records the requests and errors of its pages. */
export class TestBrowser {
  readonly #context: BrowserContext;
  readonly #profile: string;
  /** Addresses of all requests so far. */
  readonly requests: string[] = [];
  /** Errors and warnings that pages reported so far. */
  readonly errors: string[] = [];

  /** `script` runs in each page before those of the page. */
  static async start(viewport = { width: 1280, height: 900 }, script = ""): Promise<TestBrowser> {
    const profile = mkdtempSync(join(tmpdir(), "petstore-browser-"));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath,
      viewport,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    // Shorter than the limit of a test: Bun kills the browser of a test that exceeds it, and the tests after it fail too.
    context.setDefaultTimeout(100_000);
    // The browser does not write every violation of a policy to its console.
    await context.addInitScript(
      `addEventListener("securitypolicyviolation", (event) =>
         console.error(\`\${event.effectiveDirective} forbids \${event.blockedURI}: \${event.sample}\`))`,
    );
    await context.addInitScript(script);
    return new TestBrowser(context, profile);
  }

  private constructor(context: BrowserContext, profile: string) {
    this.#context = context;
    this.#profile = profile;
  }

  /** Opens an address in a new page. */
  async open(address: string, colorScheme: "light" | "dark" = "light"): Promise<Page> {
    const page = await this.#context.newPage();
    await page.emulateMedia({ colorScheme });
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("console", (message) => /^(error|warning)$/.test(message.type()) && this.errors.push(message.text()));
    page.on("pageerror", (error) => this.errors.push(error.message));
    await page.goto(address);
    return page;
  }

  async stop(): Promise<void> {
    await this.#context.close();
    rmSync(this.#profile, { recursive: true, force: true });
  }
}
