// Reservations with an end and a buyer, sellers of a till that several people use, prices that are corrected, and small things.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { numbers } from "../harness/numbers.ts";

const dialog = (page: Page) => page.getByRole("dialog");
const row = (page: Page, name: string) => page.locator("tr").filter({ hasText: name });
const says = (page: Page, text: string) => page.locator(".toasts").getByText(text).waitFor();
const eur = (amount: number) => ({ amount, currency: "EUR" });

describe.skipIf(!hasBrowser)("in a shop with prices", () => {
  let ui: TestConsole;
  let small: TestConsole;
  const call = (method: string, path: string, body?: unknown) => ui.service.call(method, path, { key: ui.key, body });
  const add = (name: string, more: object = {}) => ui.addPet({ name, status: "available", ...more });
  const newestOrder = async (petId: number) => (await call("GET", `/store/orders?petId=${petId}&sort=-id`)).json[0];
  beforeAll(async () => {
    ui = await TestConsole.start();
    small = await TestConsole.forService(ui.service, ui.key, 390);
    await ui.addCategory("Dogs");
    await call("PATCH", "/shop", { currency: "EUR", timeZone: "Europe/Berlin" });
  });
  afterAll(() => ui.stop());

  /** The clock of the page is that of the service. */
  async function open(path: string, one = ui) {
    const page = await one.browser.open("about:blank");
    await page.clock.setFixedTime(ui.service.clock.now());
    await page.goto(`${one.origin}/console${path}#key=${one.key}`);
    return page;
  }

  test("an animal is reserved for a customer until a day, then longer, and sold from there", async () => {
    const petId = await add("Frida", { price: eur(12_900) });
    const page = await open("/animals");
    await row(page, "Frida").getByText("129.00 EUR").waitFor();
    await row(page, "Frida").hover();
    await page.getByRole("button", { name: "Reserve Frida" }).click();
    await dialog(page).getByLabel("For whom").fill("Mrs Brown");
    await dialog(page).getByLabel("Until", { exact: true }).last().fill("2026-11-28");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await says(page, "Frida reserved for Mrs Brown until Saturday 28 November");
    expect(await newestOrder(petId)).toMatchObject({
      reference: "Mrs Brown",
      expiresAt: "2026-11-28T23:00:00.000Z", // the shop's midnight
      price: eur(12_900),
    });
    await page.keyboard.type("go");
    await row(page, "Frida").hover();
    await page.getByRole("button", { name: "Extend Mrs Brown" }).click();
    // From the day after its end on: no click makes it shorter.
    expect(await dialog(page).getByLabel("Until", { exact: true }).last().inputValue()).toBe("2026-11-29");
    await dialog(page).getByRole("button", { name: "Tomorrow" }).waitFor({ state: "detached" });
    await dialog(page).getByLabel("Until", { exact: true }).last().fill("2026-12-01");
    await dialog(page).getByRole("button", { name: "Extend" }).click();
    await says(page, "Mrs Brown extended until Tuesday 1 December");
    expect((await newestOrder(petId)).expiresAt).toBe("2026-12-01T23:00:00.000Z");
    await page.keyboard.type("gt");
    await page.getByRole("button", { name: "Extend Frida" }).click();
    await dialog(page).getByRole("button", { name: "Extend" }).click();
    await says(page, "Mrs Brown extended until Wednesday 2 December");
    await page.getByRole("button", { name: "Sell Frida" }).click();
    await dialog(page).getByText("Reserved · Mrs Brown").waitFor();
    expect(await dialog(page).getByLabel("Price").inputValue()).toBe("129.00");
    await page.keyboard.press("Enter");
    await says(page, "Frida sold for 129.00 EUR");
    await page.close();
  });

  test("what waits is listed by its end, and the number of sales comes with their sum", async () => {
    const [long, short, sold] = [await add("Long"), await add("Short"), await add("Gone", { price: eur(4_000) })];
    const expiresAt = new Date(ui.service.clock.now() + 3 * 86_400_000).toISOString();
    await call("POST", "/store/orders", { petId: long, expiresAt });
    const { json: order } = await call("POST", "/store/orders", { petId: short });
    await call("POST", "/store/orders", { petId: sold, confirm: true });
    const page = await ui.browser.open("about:blank");
    await page.clock.setFixedTime(ui.service.clock.now());
    const isRead = Promise.withResolvers<void>();
    await page.route(/\/store\/sales/, async (route) => {
      await isRead.promise;
      return route.continue();
    });
    await page.goto(`${ui.origin}/console#key=${ui.key}`);
    await page.getByText(/^next ends in 15:00/).waitFor();
    const figure = page.getByRole("link", { name: /^Sold today/ });
    expect(await figure.innerText()).not.toMatch(/\d/);
    isRead.resolve();
    await figure.getByText(/^· .*EUR$/).waitFor();
    expect(await figure.innerText()).toMatch(/^Sold today\s+\d+ · /);
    const names = /^(Long|Short)$/;
    const waiting = page.getByRole("region", { name: "Reserved now" }).getByRole("link", { name: names });
    expect(await waiting.allInnerTexts()).toEqual(["Short", "Long"]);
    await page.keyboard.type("go");
    await row(page, "Long").waitFor();
    const listed = page.getByRole("table", { name: "Orders" }).getByRole("link", { name: names });
    expect(await listed.allInnerTexts()).toEqual(["Short", "Long"]);
    await call("POST", `/store/orders/${order.id}/cancel`);
    await page.close();
  });

  test("a till keeps who sold last, suggests the others, and a price that was wrong is corrected afterwards", async () => {
    const [first, second] = [await add("Ida", { price: eur(4_000) }), await add("Ike")];
    const page = await open(`/animals/${first}`);
    await page.getByRole("button", { name: "Sell Ida" }).click();
    await dialog(page).getByLabel("Seller").fill("Ann");
    await page.keyboard.press("Enter");
    await says(page, "Ida sold for 40.00 EUR");
    expect(await newestOrder(first)).toMatchObject({ seller: "Ann", price: eur(4_000) });
    await page.goto(`${ui.origin}/console/animals/${second}`);
    await page.getByRole("button", { name: "Sell Ike" }).click();
    expect(await dialog(page).getByLabel("Seller").inputValue()).toBe("Ann");
    await page.locator("dialog datalist option[value=Ann]").waitFor({ state: "attached" });
    await page.keyboard.press("Escape");
    const { id } = await newestOrder(first);
    await page.goto(`${ui.origin}/console/orders/${id}`);
    await page.getByRole("button", { name: `Edit Order ${id}` }).click();
    await dialog(page).getByLabel("Price").fill("45,5");
    await page.keyboard.press("Enter");
    await page.locator(".facts").getByText("45.50 EUR").waitFor();
    await page.getByRole("link", { name: "Back to Orders" }).click();
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    const phone = await open("/orders?status=confirmed", small);
    await row(phone, "Ida").getByText("45.50 EUR").waitFor();
    await page.goto(`${ui.origin}/console/events`);
    await page.getByText("Price: 40.00 EUR → 45.50 EUR").waitFor();
    await Promise.all([page.close(), phone.close()]);
  });

  test("among 10,000 animals a scanned reference, a number and a name are found everywhere", async () => {
    const { account, key } = await ui.service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]);
    const shop = await ui.service.shop(account.id);
    await ui.service.call("POST", "/categories", { key, body: { name: "Dogs" } });
    const body = { name: "Needle", categoryId: 1, status: "available", reference: "CHIP-77" };
    const { json } = await ui.service.call("POST", "/pets", { key, body });
    await ui.service.store.run(
      `${numbers(10_000)}
       INSERT INTO pets (shop, id, name, category_id, status, added_at)
       SELECT ${shop}, n + 10, 'Rex ' || n, 1, 'available', 0 FROM numbers`,
    );
    const page = await ui.open("/animals", { key });
    await page.getByLabel("Search by name").fill("needl");
    await page.getByRole("link", { name: "Needle" }).waitFor();
    await page.keyboard.press("Control+k");
    await dialog(page).getByRole("combobox").fill("CHIP-77");
    await dialog(page)
      .getByRole("option", { name: /^Needle/ })
      .waitFor();
    await page.keyboard.press("Escape");
    for (const text of ["CHIP-77", String(json.id), "needle"]) {
      await page.keyboard.press("Escape");
      await page.getByRole("heading", { name: "Animals" }).click();
      await page.keyboard.press("s");
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
      await dialog(page).getByRole("button", { name: "Sell Needle" }).waitFor();
      await page.keyboard.press("Escape");
    }
    await page.getByLabel("Search by name").fill("");
    await page.getByLabel("Order").selectOption("Name from A");
    await page.waitForURL(/sort=name/);
    await page.getByRole("row").nth(1).getByText("Needle").waitFor();
    await page.close();
  });

  test("rows are walked by arrow keys, and single keys can be switched off", async () => {
    await add("Arrow");
    const page = await open("/animals");
    await page.getByRole("link", { name: "Arrow" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Sell Arrow");
    await page.keyboard.press("ArrowDown");
    expect(await page.evaluate("document.activeElement.closest('tr').rowIndex")).toBe(2);
    await page.keyboard.press("?");
    await page.getByLabel("Keys without Ctrl do something").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("s");
    await page.keyboard.press("n");
    expect(await dialog(page).count()).toBe(0);
    await page.reload();
    await page.getByRole("link", { name: "Arrow" }).waitFor();
    await page.keyboard.press("s");
    expect(await dialog(page).count()).toBe(0);
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await dialog(page).getByLabel("Keys without Ctrl do something").check(); // as before
    await page.close();
  });

  test("a new shop is told its first steps, and a new key is shown whole with Copy focused", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]);
    const page = await ui.open("", { key });
    await page.getByRole("region", { name: "First steps" }).getByRole("link", { name: "Keys" }).click();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Create key" }).click();
    await dialog(page).getByLabel("Name").fill("till");
    await dialog(page).getByLabel("Read").check();
    await dialog(page).getByRole("button", { name: "Create key" }).click();
    const text = dialog(page).getByLabel("The key", { exact: true });
    await text.waitFor();
    const isWhole =
      "(e => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)(document.querySelector('textarea'))";
    expect(await page.evaluate<boolean>(isWhole)).toBe(true);
    await page.keyboard.press("Enter");
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(await text.inputValue());
    await page.close();
  });
});
