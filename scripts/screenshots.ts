// Takes the pictures of docs/pictures/: pages of the console with sample data; the first also in dark and on a phone.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { TestBrowser } from "../test/harness/browser.ts";
import { sampleShop } from "./sample-shop.ts";

const folder = join(import.meta.dir, "../docs/pictures");
/** The largest picture, in bytes: readers load several. */
const LARGEST = 180_000;

const { webhooks, key, endpointId, petId } = await sampleShop();
const { origin } = new URL(webhooks.service.app.base);

/** Pages by the names of their pictures, each with a text that it shows once everything is there. */
const pages = {
  today: ["", "Reserved now"],
  animals: ["/animals", "Rex"],
  animal: [`/animals/${petId}`, "reserved it"],
  orders: ["/orders?status=all", "Till 2"],
  sales: ["/sales", "By category"],
  categories: ["/categories", "Dogs"],
  requests: ["/requests", "POST /pets"],
  events: ["/events", "Till 2 / 4718"],
  webhooks: ["/webhooks", "web-shop"],
  webhook: [`/webhooks/${endpointId}`, "attempt 1"],
  delivery: [`/webhooks/${endpointId}/1`, "upstream"],
  usage: ["/usage", "Deprecated operations"],
  keys: ["/keys", "till 1"],
  sandbox: ["/sandbox", "Until the next"],
} as const;

const looks = {
  light: { colors: "light", size: { width: 1280, height: 800 } },
  dark: { colors: "dark", size: { width: 1280, height: 800 } },
  phone: { colors: "light", size: { width: 390, height: 844 } },
} as const;

mkdirSync(folder, { recursive: true });
for (const [look, { colors, size }] of Object.entries(looks)) {
  const browser = await TestBrowser.start(size);
  webhooks.service.clock.advance(60_000); // at most 20 requests a minute about a sandbox are admitted
  for (const [name, [path, text]] of Object.entries(pages)) {
    if (look !== "light" && name !== "today") continue;
    const page = await browser.open("about:blank");
    await page.emulateMedia({ colorScheme: colors });
    page.setDefaultTimeout(60_000);
    await page.clock.setFixedTime(webhooks.service.clock.now());
    await page.goto(`${origin}/console${path}#key=${key}`);
    await page.getByText(text).first().waitFor();
    await page.locator(":root:has(.skeleton)").waitFor({ state: "detached" });
    const file = join(folder, `${name}-${look}.png`);
    const { length } = await page.screenshot({ path: file, animations: "disabled" });
    console.log(`${name}-${look}.png: ${length} bytes`);
    if (length > LARGEST) throw new Error(`${file} may have ${LARGEST} bytes.`);
    await page.close();
  }
  await browser.stop();
}
await webhooks.stop();
