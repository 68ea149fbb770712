// How an animal is sold: picked first, then sold for its price, by keyboard, scanner and pointer; and taken back.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { pressFor, TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const dialog = (page: Page) => page.getByRole("dialog");
const animal = (page: Page) => dialog(page).getByLabel("Animal");
const eur = (amount: number) => ({ amount, currency: "EUR" });
const price = (page: Page) => dialog(page).getByLabel("Price");
const option = (page: Page, name: string) => dialog(page).getByRole("option", { name });
const says = (page: Page, text: string) => page.locator(".toasts").getByText(text).waitFor();
const row = (page: Page, name: string) => page.locator("tr").filter({ hasText: name });
/** What has the focus, by its label. */
const focused = (page: Page, label: string) =>
  eventually(
    () =>
      page.evaluate<string>("document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent"),
    (text) => text.startsWith(label),
  );

describe.skipIf(!hasBrowser)("selling in the console", () => {
  let ui: TestConsole;
  const call = (method: string, path: string, body?: unknown) => ui.service.call(method, path, { key: ui.key, body });
  const add = (name: string) => ui.addPet({ name, status: "available" });
  const statusOf = async (id: number) => (await call("GET", `/pets?ids=${id}`)).json[0].status as string;
  const newestOrder = async (petId: number) => (await call("GET", `/store/orders?petId=${petId}&sort=-id`)).json[0];
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
    await call("PATCH", "/shop", { currency: "EUR" });
  });
  afterAll(() => ui.stop());

  test("sells an available animal that was returned or released before", async () => {
    const ids = [await add("Returned"), await add("Released")];
    for (const [index, petId] of ids.entries()) {
      const { json } = await call("POST", "/store/orders", { petId, ...(index === 0 && { confirm: true }) });
      await call("POST", `/store/orders/${json.id}/${index === 0 ? "return" : "cancel"}`);
    }
    const page = await ui.open();
    for (const [index, name] of ["Returned", "Released"].entries()) {
      await page.keyboard.press("s");
      await animal(page).fill(name);
      await page.keyboard.press("Enter");
      await focused(page, "Price");
      expect(await dialog(page).getByText("Reserved").count()).toBe(0);
      await page.keyboard.press("Enter");
      await says(page, `${name} sold`);
      expect(await statusOf(ids[index] as number)).toBe("sold");
    }
    await ui.leave(page);
  });

  test("Enter picks the animal that was meant, and sells it only in the field of the price", async () => {
    const bella = await add("Bella");
    const bellatrix = await add("Bellatrix");
    const page = await ui.open();
    await pressFor(page, "s", "Sell");
    await page.keyboard.type("bella"); // a scanner types Enter at once
    await page.keyboard.press("Enter");
    await focused(page, "Price");
    expect(await Promise.all([bella, bellatrix].map(statusOf))).toEqual(["available", "available"]);
    await page.keyboard.type("129,50");
    await page.keyboard.press("Enter");
    await says(page, "Bella sold for 129.50 EUR");
    expect(await newestOrder(bella)).toMatchObject({ status: "confirmed", price: { amount: 12_950, currency: "EUR" } });
    expect(await statusOf(bellatrix)).toBe("available");
    await page.keyboard.press("s");
    await page.keyboard.type(String(bellatrix));
    await page.keyboard.press("Enter");
    await focused(page, "Price");
    await page.keyboard.press("Enter");
    await says(page, "Bellatrix sold");
    await ui.leave(page);
  });

  test("of several that may be meant none is picked: the arrow keys or the pointer choose", async () => {
    const [first, second] = [await add("Twin"), await add("Twin")];
    const page = await ui.open();
    await pressFor(page, "s", "Sell");
    await page.keyboard.type("twin");
    await page.keyboard.press("Enter");
    await dialog(page).getByText("Choose with the arrow keys or the pointer.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await option(page, `Dogs · ${first}`).click();
    await focused(page, "Price"); // and not nowhere
    await dialog(page).getByRole("button", { name: "Change" }).click();
    await focused(page, "Animal");
    await page.keyboard.type("twin");
    await page.keyboard.press("Enter");
    await dialog(page).getByText("Choose with the arrow keys or the pointer.").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await focused(page, "Price");
    expect(await Promise.all([first, second].map(statusOf))).toEqual(["available", "available"]);
    await page.keyboard.press("Escape");
    await ui.leave(page);
  });

  test("no key picks an animal of the list before, while the one of the text is on its way", async () => {
    await add("Kassandra of Troy");
    await add("Newest of all");
    const page = await ui.open();
    await pressFor(page, "s", "Sell");
    await option(page, "Newest of all").waitFor();
    for (const key of ["k", "a", "s", "s", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await dialog(page).getByText("Choose with the arrow keys or the pointer.").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await focused(page, "Price");
    expect(await page.locator(".picked").innerText()).toContain("Kassandra of Troy");
    await page.keyboard.press("Escape");
    await ui.leave(page);
  });

  test.each([1280, 390])(
    "all that tells animals apart can be read where one is picked, at %d pixels",
    async (width) => {
      const one = await TestConsole.forService(ui.service, ui.key, width);
      const name = `Wilhelmina ${width} of the Old Mill Behind the River`;
      await ui.addPet({ name, status: "available", reference: `2760981${width}00123456`, price: eur(123_450) });
      const page = await one.open();
      await pressFor(page, "s", "Sell");
      await animal(page).fill(`wilhelmina ${width}`);
      const cut = (selector: string) =>
        page.evaluate<string[]>(
          `[...document.querySelectorAll("${selector}, ${selector} *")]
          .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth)
          .map(({ outerHTML }) => outerHTML)`,
        );
      await option(page, `Dogs · 2760981${width}00123456 · 1,234.50 EUR`).waitFor();
      expect(await cut(".suggestions")).toEqual([]);
      await option(page, name).click();
      await price(page).waitFor();
      expect(await cut(".picked")).toEqual([]);
      await one.browser.stop();
    },
  );

  test("a message takes the place of earlier ones about the same animal, and an undo keeps the focus", async () => {
    await add("Messages");
    const page = await ui.open("/animals");
    for (const done of ["sold", "returned, and available again"]) {
      if (done === "sold") {
        await pressFor(page, "s", "Sell");
        await page.keyboard.type("messages\n");
        await focused(page, "Price");
        await page.keyboard.press("Enter");
      } else await page.getByRole("button", { name: "Undo" }).click();
      await says(page, `Messages ${done}`);
      expect(await page.locator(".toast").count()).toBe(1);
    }
    expect(await page.evaluate<string>("document.activeElement.id")).toBe("main"); // Undo is gone
    await ui.leave(page);
  });

  test("who is slower than another browser is told so, and shown the animal as it is now", async () => {
    const petId = await add("Contested");
    const page = await ui.open();
    await pressFor(page, "s", "Sell");
    await page.keyboard.type("contested\n");
    await focused(page, "Price");
    await call("POST", "/store/orders", { petId, confirm: true, seller: "Ben" });
    await page.keyboard.press("Enter");
    await dialog(page).getByText("It cannot be sold or reserved any more: somebody else was faster.").waitFor();
    await dialog(page).locator(".picked").getByText("Sold").waitFor();
    expect(await dialog(page).getByRole("button", { name: "Sell Contested" }).isDisabled()).toBe(true);
    expect((await newestOrder(petId)).seller).toBe("Ben");
    await page.keyboard.press("Escape");
    await ui.leave(page);
  });

  test("an animal that is reserved is sold from its reservation, for a price", async () => {
    const petId = await add("Held");
    await call("POST", "/store/orders", { petId, reference: "Mrs B." });
    const page = await ui.open("/orders");
    await row(page, "Held").getByRole("button", { name: "Sell Mrs B." }).click();
    await dialog(page).getByText("Reserved · Mrs B.").waitFor();
    await price(page).fill("abc");
    await page.keyboard.press("Enter");
    await dialog(page).getByText("Enter a price such as 129.00.").waitFor();
    await price(page).fill("1,240.00");
    await page.keyboard.press("Enter");
    await says(page, "Held sold for 1,240.00 EUR");
    expect(await newestOrder(petId)).toMatchObject({ status: "confirmed", reference: "Mrs B." });
    await ui.leave(page);
  });

  test("several ticked animals are sold from one sheet with their prices, and all of them are taken back", async () => {
    const ids = [await add("Uno"), await add("Due"), await add("Tre")];
    const page = await ui.open("/animals");
    for (const name of ["Uno", "Due", "Tre"]) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole("button", { name: "Sell…" }).click();
    expect(await Promise.all(ids.map(statusOf))).toEqual(["available", "available", "available"]);
    await dialog(page).getByLabel("Price of Uno").fill("10");
    await dialog(page).getByLabel("Price of Tre").fill("2.50");
    await dialog(page).getByText("12.50 EUR").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog(page).getByRole("button", { name: "Sell 3 animals" }).click();
    await says(page, "3 animals sold");
    expect((await newestOrder(ids[2] as number)).price).toEqual({ amount: 250, currency: "EUR" });
    await page.keyboard.press("u");
    await eventually(
      () => Promise.all(ids.map(statusOf)),
      (all) => all.every((status) => status === "available"),
    );
    await ui.leave(page);
  });

  test("taking back asks once what is paid back, and a second click does nothing else", async () => {
    const petId = await add("Boomerang");
    await call("POST", "/store/orders", { petId, confirm: true, price: { amount: 9_900, currency: "EUR" } });
    const page = await ui.open("/animals");
    await row(page, "Boomerang").hover();
    await row(page, "Boomerang").getByRole("button", { name: "Return Boomerang" }).click();
    await dialog(page).getByText(`99.00 EUR will be paid back. Boomerang (${petId})`).waitFor();
    expect(await statusOf(petId)).toBe("sold");
    await dialog(page).getByRole("button", { name: "Return" }).click();
    await says(page, "Boomerang returned");
    // The animal is available again: Sell and Reserve lie where Return was.
    await row(page, "Boomerang").getByRole("button", { name: "Reserve Boomerang" }).waitFor({ state: "attached" });
    await ui.leave(page);
  });

  test("what comes to lie under a pointer that has clicked does nothing for half a second", async () => {
    const petIds = [await add("Upper"), await add("Lower")];
    for (const petId of petIds) await call("POST", "/store/orders", { petId });
    const page = await ui.open("/orders");
    const release = row(page, "Lower").getByRole("button", { name: /^Release/ });
    await release.hover();
    const { x, y, width, height } = (await release.boundingBox()) as {
      x: number;
      y: number;
      width: number;
      height: number;
    };
    await page.evaluate(`addEventListener("click", ({ target }) => {
      const row = target.closest("tr");
      if (row) requestAnimationFrame(() => row.remove()); // what is below moves up
    })`);
    await page.mouse.click(x + width / 2, y + height / 2, { clickCount: 2, delay: 60 });
    await says(page, "Lower is available again");
    expect(await Promise.all(petIds.map(statusOf))).toEqual(["pending", "available"]);
    await ui.leave(page);
  });

  test("going back closes what is open, and the page stays", async () => {
    await add("Stays");
    const page = await ui.open("/orders");
    await ui.goTo(page, "/animals");
    await row(page, "Stays").waitFor();
    await page.keyboard.press("s");
    await animal(page).waitFor();
    await page.goBack();
    await dialog(page).waitFor({ state: "detached" });
    await row(page, "Stays").waitFor();
    await page.getByRole("button", { name: "More for Stays" }).click();
    await page.getByRole("button", { name: "Delete… Stays" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Delete… Stays" }).waitFor({ state: "detached" });
    await row(page, "Stays").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    await ui.leave(page);
  });
});
