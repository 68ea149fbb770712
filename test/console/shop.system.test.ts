// Orders, categories, one animal, and how the shop stands today.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const dialogOf = (page: Page) => page.getByRole("dialog");
const fits = (page: Page) => page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth");

const place = async (one: TestConsole, petId: number, reference: string) =>
  (await one.service.call("POST", "/store/orders", { key: one.key, body: { petId, reference } })).json.id as number;

describe.skipIf(!hasBrowser)("in the shop", () => {
  let ui: TestConsole;
  let small: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    small = await TestConsole.start({ width: 390 });
    for (const one of [ui, small]) {
      for (const name of ["Dogs", "Cats", "Birds"]) await one.addCategory(name);
    }
  });
  afterAll(async () => {
    await ui.stop();
    await small.stop();
  });

  const read = async (path: string) => (await ui.service.call("GET", path, { key: ui.key })).json;

  test("an animal is reserved, sold and returned by pointer", async () => {
    const rex = await ui.addPet({ name: "Rex", status: "available" });
    const page = await ui.open("/orders");
    await page.getByText("No animal is reserved.").waitFor();
    await page.getByRole("button", { name: "Sell", exact: true }).click();
    await dialogOf(page).getByLabel("Animal").fill(String(rex));
    await dialogOf(page).getByRole("option", { name: "Rex" }).click();
    await dialogOf(page).getByRole("button", { name: "Reserve instead" }).click();
    await dialogOf(page).getByLabel("For whom").fill("Till 1");
    await dialogOf(page).getByRole("button", { name: "Reserve Rex" }).click();
    await page.getByRole("status").getByText("Rex reserved").waitFor();
    const row = page.getByRole("row").filter({ hasText: "Till 1" });
    await row.getByRole("cell", { name: /\d+:\d\d left/ }).waitFor();
    await row.getByRole("link", { name: "Rex" }).waitFor();
    await row.getByRole("button", { name: "Sell" }).click();
    await dialogOf(page).getByRole("button", { name: "Sell Rex" }).click();
    await page.getByRole("status").getByText("Rex sold").waitFor();
    await page.getByRole("button", { name: "Sold", exact: true }).click();
    expect(page.url()).toEndWith("/orders?status=confirmed");
    await row.getByRole("cell", { name: "test", exact: true }).waitFor(); // the name of the key that sold it
    await page.getByLabel("Search by reference").fill("Till 1");
    await page.waitForURL(/search=Till/);
    await row.getByRole("button", { name: "Return" }).click();
    await dialogOf(page).getByRole("button", { name: "Return" }).click();
    await eventually(
      () => read(`/pets?ids=${rex}`),
      ([pet]) => pet.status === "available",
    );
    await ui.leave(page);
  });

  test("an order has a page, on which it is changed, sold and returned, and which events keep up to date", async () => {
    const petId = await ui.addPet({ name: "Momo", status: "available" });
    const body = { petId, reference: "Shelf 9", metadata: { bag: "blue" } };
    const { id } = (await ui.service.call("POST", "/store/orders", { key: ui.key, body })).json;
    const page = await ui.openLive("/orders");
    await page.getByRole("link", { name: "Shelf 9" }).click();
    const fact = (name: string) =>
      page.locator(".facts > div").filter({ has: page.locator("dt").getByText(name, { exact: true }) });
    await fact("Animal").getByRole("link", { name: "Momo" }).waitFor();
    await fact("bag").getByText("blue").waitFor();
    await page.getByRole("button", { name: "Edit Shelf 9" }).click();
    await dialogOf(page).getByLabel("Reference").fill("Shelf 10");
    await dialogOf(page).getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Shelf 10", exact: true }).waitFor();
    const price = { amount: 4_900, currency: "EUR" };
    await ui.service.call("POST", `/store/orders/${id}/confirm`, { key: ui.key, body: { price } }); // another program
    await fact("Price").getByText("49.00 EUR").waitFor();
    await fact("Sold by").getByText("test").waitFor();
    await page.getByRole("button", { name: "Return Shelf 10" }).click();
    await dialogOf(page).getByText("49.00 EUR will be paid back.").waitFor();
    await dialogOf(page).getByRole("button", { name: "Return" }).click();
    await fact("Returned").waitFor();
    const history = page.getByLabel("History").getByRole("listitem");
    await eventually(
      async () => (await history.allInnerTexts()).map((text) => /took|sold|changed|reserved/.exec(text)?.[0]).join(),
      (deeds) => deeds === "took,sold,changed,reserved",
    );
    expect(await read(`/store/orders/${id}`)).toMatchObject({ status: "returned", reference: "Shelf 10" });
    await ui.goTo(page, "/orders/987654321");
    await page.getByRole("alert").getByText("order_not_found").waitFor();
    await ui.leave(page);
  });

  test("orders are listed by when they were placed, and in the order of their sales", async () => {
    const sell = async (name: string) => {
      const petId = await ui.addPet({ name, status: "available" });
      return (await ui.service.call("POST", "/store/orders", { key: ui.key, body: { petId } })).json.id;
    };
    const [early, late] = [await sell("Early"), await sell("Late")];
    ui.service.clock.advance(1_000);
    for (const id of [late, early]) {
      ui.service.clock.advance(1_000);
      await ui.service.call("POST", `/store/orders/${id}/confirm`, { key: ui.key });
    }
    const page = await ui.open("/orders?status=confirmed");
    await page.clock.setFixedTime(ui.service.clock.now());
    const shown = async () => (await page.getByRole("link", { name: /^(Early|Late)$/ }).allInnerTexts()).join();
    await page.getByRole("link", { name: "Early" }).waitFor();
    expect(await shown()).toBe("Late,Early");
    await page.getByLabel("Sorted by").selectOption("Last sold first");
    await eventually(shown, (names) => names === "Early,Late");
    await page.getByLabel("Placed", { exact: true }).selectOption("Today");
    await page.waitForURL(/days=1/);
    await page.getByRole("link", { name: "Early" }).waitFor();
    await page.clock.setFixedTime(ui.service.clock.now() + 3 * 86_400_000);
    await page.reload();
    await page.getByText("No such order was placed in this time.").waitFor();
    await page.getByLabel("Placed", { exact: true }).selectOption("Last 7 days");
    await page.getByRole("link", { name: "Early" }).waitFor();
    await page.close();
  });

  test("the name of an animal is read again after a failure", async () => {
    const id = await ui.addPet({ name: "Lou", status: "available" });
    await place(ui, id, "Till 3");
    const page = await ui.browser.open("about:blank");
    await page.route(/\/v1\/pets\?.*ids=/, (route) =>
      route.continue({ headers: { ...route.request().headers(), "petstore-simulate": "internal_error" } }),
    );
    const failed = page.waitForResponse((response) => response.status() === 500);
    await page.goto(`${ui.origin}/console/orders#key=${ui.key}`);
    await failed;
    await page.getByRole("link", { name: `No. ${id}` }).waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.keyboard.type("gt");
    await page.getByRole("region", { name: "Reserved now" }).getByRole("link", { name: "Lou" }).waitFor();
    await page.close();
  });

  test("an animal is sold at once on its page, by keyboard, and the sale is undone", async () => {
    const id = await ui.addPet({ name: "Ben", status: "available" });
    const page = await ui.open(`/animals/${id}`);
    await page.getByRole("button", { name: "Sell Ben" }).press("Enter");
    await page.getByRole("dialog", { name: "Sell Ben" }).getByLabel("Reference").fill("Till 5");
    await page.keyboard.press("Enter");
    const toasts = page.getByRole("status");
    await toasts.getByText("Ben sold").waitFor();
    await page.getByRole("button", { name: "Return Till 5" }).waitFor();
    expect((await read(`/pets?ids=${id}`))[0].status).toBe("sold");
    await toasts.getByRole("button", { name: "Undo" }).click();
    await toasts.getByText("Ben returned, and available again").waitFor();
    expect((await read(`/pets?ids=${id}`))[0].status).toBe("available");
    await ui.leave(page);
  });

  test("an animal is chosen by name among those of the whole shop, and one that is sold cannot be", async () => {
    await ui.addPet({ name: "Berta", status: "sold" });
    const benji = await ui.addPet({ name: "Benji", categoryId: 2, status: "available" });
    const page = await ui.open("/categories");
    await page.getByRole("heading", { name: "Categories" }).waitFor();
    await page.keyboard.type("s");
    const dialog = page.getByRole("dialog", { name: "Sell" });
    await dialog.getByLabel("Animal").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    // At once: a slow typist would pause for 250 ms, and ask twice.
    await page.keyboard.insertText("berta");
    const berta = dialog.getByRole("option", { name: "Berta" });
    await berta.getByText("Sold").waitFor();
    expect(asked.filter((address) => address.includes("/v1/pets?")).length).toBe(1);
    await berta.click({ force: true });
    await page.keyboard.press("Enter");
    expect(await dialog.getByRole("button", { name: "Sell", exact: true }).isDisabled()).toBe(true);
    await dialog.getByText("None of these can be sold.").waitFor();
    await dialog.getByLabel("Animal").fill("benj");
    await dialog.getByRole("option", { name: "Benji" }).getByText("Cats").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press("ArrowDown");
    await dialog.getByRole("option", { name: "Benji", selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Sell Benji" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Benji sold").waitFor();
    expect((await read(`/pets?ids=${benji}`))[0].status).toBe("sold");
    await page.close();
  });

  test("an animal is sold with a price in the currency of the last sale, and from its reservation", async () => {
    const earlier = await ui.addPet({ name: "Earlier", status: "available" });
    const body = { petId: earlier, confirm: true, price: { amount: 100, currency: "CHF" } };
    await ui.service.call("POST", "/store/orders", { key: ui.key, body });
    const id = await ui.addPet({ name: "Bella", status: "available" });
    const order = await place(ui, id, "Till 12");
    const page = await ui.open("/orders");
    await page.getByRole("link", { name: "Bella" }).waitFor();
    await page.keyboard.type("s");
    const dialog = page.getByRole("dialog", { name: "Sell" });
    await dialog.getByLabel("Animal").fill("bella");
    await dialog.getByRole("option", { name: "Bella" }).getByText("Reserved · Till 12").click();
    const currency = () => dialog.getByLabel("Currency").inputValue();
    await eventually(currency, (shown) => shown === "CHF"); // once the last sale is read
    expect(await dialog.getByLabel("Reference").count()).toBe(0);
    await dialog.getByLabel("Price").fill("12.345");
    await dialog.getByText("Enter a price such as 129.00.").waitFor();
    await page.keyboard.press("Enter");
    await dialog.getByLabel("Price").fill("1240,5");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Bella sold for 1,240.50 CHF").waitFor();
    expect(await read(`/store/orders/${order}`)).toMatchObject({
      status: "confirmed",
      price: { amount: 124_050, currency: "CHF" },
    });
    await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
    await eventually(
      () => read(`/store/orders/${order}`),
      ({ status }) => status === "returned",
    );
    await ui.leave(page);
  });

  test("a form that is being sent is not sent again, even if it is changed", async () => {
    const page = await ui.open("/categories");
    const held = Promise.withResolvers<void>();
    let sent = 0;
    await page.route(/\/v1\/categories$/, async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      sent++;
      await held.promise;
      return route.continue();
    });
    await page.getByRole("button", { name: "Add category" }).click();
    await dialogOf(page).getByLabel("Name").fill("Mice");
    const arrives = page.waitForRequest((request) => request.method() === "POST");
    await page.keyboard.press("Enter");
    await arrives;
    await page.keyboard.type("!");
    expect(await dialogOf(page).getByRole("button", { name: "Add category" }).isDisabled()).toBe(true);
    // As a second click before the button is disabled.
    await page.evaluate("document.querySelector('dialog form').requestSubmit()");
    held.resolve();
    await dialogOf(page).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Mice", exact: true }).waitFor();
    expect(sent).toBe(1);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await ui.leave(page);
  });

  test("a category is added, renamed, merged into another one, and restored", async () => {
    const page = await ui.open("/categories");
    await page.getByRole("button", { name: "Add category" }).click();
    await dialogOf(page).getByLabel("Name").fill("Fish");
    await dialogOf(page).getByRole("button", { name: "Add category" }).click();
    await page.getByRole("link", { name: "Fish" }).waitFor();
    const { id } = (await read("/categories")).find((category: { name: string }) => category.name === "Fish");
    const nemo = await ui.addPet({ name: "Nemo", categoryId: id });

    await page.getByRole("button", { name: "Edit Fish" }).click();
    await dialogOf(page).getByLabel("Name").fill("Dogs");
    await dialogOf(page).getByRole("button", { name: "Save" }).click();
    await dialogOf(page).getByRole("alert").getByText("Another category has this name.").waitFor();
    await dialogOf(page).getByLabel("Name").fill("Fishes");
    await dialogOf(page).getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "Fishes" }).waitFor();

    await page.reload();
    await page
      .getByRole("row", { name: /Fishes/ })
      .getByRole("cell", { name: "1", exact: true })
      .waitFor();
    await page.getByRole("button", { name: "Merge into… Fishes" }).click();
    await dialogOf(page).getByText("1 animal moves to the other category").waitFor();
    await dialogOf(page).getByRole("button", { name: "Merge 1 animal" }).click();
    await dialogOf(page).getByText("Fill this in.").waitFor();
    expect(await dialogOf(page).getByRole("option", { name: "Fishes" }).count()).toBe(0);
    await dialogOf(page).getByLabel("Merge into").selectOption("New category…");
    await page.keyboard.type("Fins");
    await dialogOf(page).getByRole("button", { name: "Merge 1 animal" }).click();
    await page.getByRole("link", { name: "Fishes" }).waitFor({ state: "detached" });
    const fins = (await read("/categories")).find((category: { name: string }) => category.name === "Fins");
    expect((await read(`/pets?ids=${nemo}`))[0].categoryId).toBe(fins.id);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "Fishes" }).waitFor();
    await eventually(
      () => read(`/pets?ids=${nemo}`),
      ([pet]) => pet.categoryId === id,
    );
    await page.reload();
    await page.getByRole("button", { name: "Delete Fins" }).click(); // nothing is in it now
    await dialogOf(page).getByRole("button", { name: "Delete category" }).click();
    await page.getByRole("link", { name: "Fins" }).waitFor({ state: "detached" });
    await ui.leave(page);
  });

  test("an animal's page tells what happened to it, and who did it", async () => {
    const id = await ui.addPet({ name: "Otto", status: "available" });
    await ui.service.call("PATCH", `/pets/${id}`, { key: ui.key, body: { name: "Otto II", categoryId: 2 } });
    await place(ui, id, "Till 7");
    const page = await ui.open(`/animals/${id}`);
    const history = page.getByLabel("History");
    await history.getByText("Name: Otto → Otto II").waitFor();
    await history.getByText("Category: Dogs → Cats").waitFor();
    await history.getByRole("listitem").filter({ hasText: "reserved it · Till 7" }).waitFor();
    expect(await history.getByRole("listitem").count()).toBe(3); // an event of the order and one of the animal are one deed
    await page.getByRole("button", { name: "Release Till 7" }).click();
    await page.getByRole("cell", { name: "Cancelled" }).waitFor();
    await page.keyboard.type("e");
    await dialogOf(page).getByLabel("Name").fill("Otto III");
    await dialogOf(page).getByLabel("Category").selectOption("New category…");
    await page.keyboard.type("Otters");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Otto III" }).waitFor();
    await history.getByText("Category: Cats → Otters").waitFor();
    await ui.leave(page);
  });

  test("pairs are kept with animals, categories and orders, and a wrong one is marked", async () => {
    const id = await ui.addPet({ name: "Nele", status: "available", metadata: { shelf: "B-12", old: "1" } });
    await place(ui, id, "Till 8");
    const page = await ui.open(`/animals/${id}`);
    const dialog = dialogOf(page);
    await page.getByRole("button", { name: "More for Nele" }).click();
    await page.getByRole("button", { name: "Edit Nele" }).click();
    await dialog.getByRole("button", { name: "Remove detail 2" }).click();
    await dialog.getByLabel("Text 1").fill("C-3");
    await dialog.getByRole("button", { name: "Add a detail" }).click();
    await dialog.getByLabel("Detail 2").and(page.locator(":focus")).waitFor();
    await dialog.getByLabel("Text 2").fill("Tiny Paws");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Name each detail, and none twice.").waitFor();
    expect(await dialog.getByLabel("Detail 2", { exact: true }).getAttribute("aria-invalid")).toBe("true");
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel("Detail 2", { exact: true }).fill("x".repeat(41));
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/^x{41} /).waitFor(); // the service names the pair
    await dialog.getByLabel("Detail 2", { exact: true }).fill("supplier");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Tiny Paws", { exact: true }).waitFor();
    expect((await read(`/pets?ids=${id}`))[0].metadata).toEqual({ shelf: "C-3", supplier: "Tiny Paws" });

    await page.getByRole("button", { name: "Edit Till 8" }).click();
    await dialog.getByRole("button", { name: "Add a detail" }).click();
    await dialog.getByLabel("Detail 1", { exact: true }).fill("<b>till</b>");
    await dialog.getByLabel("Text 1").fill("שלום 🐕");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    const order = async () => (await read(`/store/orders?reference=Till 8`))[0];
    expect((await order()).metadata).toEqual({ "<b>till</b>": "שלום 🐕" });

    // Another user adds a pair and changes one while the form is open.
    const patch = async (metadata: object) =>
      ui.service.call("PATCH", `/store/orders/${(await order()).id}`, { key: ui.key, body: { metadata } });
    await patch({ shelf: "A", box: "1" });
    await page.getByRole("button", { name: "Edit Till 8" }).click();
    await dialog.getByLabel("Text 3").waitFor();
    await patch({ shelf: "B", room: "2" });
    const box = (
      await Promise.all([1, 2, 3].map((pair) => dialog.getByLabel(`Detail ${pair}`, { exact: true }).inputValue()))
    ).indexOf("box");
    await dialog.getByLabel(`Text ${box + 1}`).fill("9");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await order()).metadata).toEqual({ "<b>till</b>": "שלום 🐕", shelf: "B", room: "2", box: "9" });

    await page.keyboard.type("gc");
    await page.getByRole("button", { name: "Edit Birds" }).click();
    await dialog.getByRole("button", { name: "Add a detail" }).click();
    await dialog.getByLabel("Detail 1", { exact: true }).fill("room");
    await dialog.getByLabel("Text 1").fill("2");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await read("/categories/3")).metadata).toEqual({ room: "2" });
    await ui.leave(page);
  });

  test("an address of an animal that is not there says so", async () => {
    for (const id of ["999999", "nonsense"]) {
      const page = await ui.open(`/animals/${id}`);
      await page.getByText("No animal has this number.").waitFor();
      await ui.leave(page);
    }
  });

  test("today's page shows what is reserved, from where it is sold, and what just happened", async () => {
    const id = await ui.addPet({ name: "Mia", status: "available" });
    await place(ui, id, "Till 9");
    const page = await ui.open();
    const reserved = page
      .getByRole("region", { name: "Reserved now" })
      .getByRole("listitem")
      .filter({ hasText: "Mia" });
    await reserved.getByText("Till 9").waitFor();
    const deeds = page.getByLabel("Events").getByRole("listitem");
    await deeds.filter({ hasText: "reserved Mia" }).waitFor();
    await reserved.getByRole("button", { name: "Sell Mia" }).click();
    await dialogOf(page).getByRole("button", { name: "Sell Mia" }).click();
    await page.getByRole("status").getByText("Mia sold").waitFor();
    await deeds.filter({ hasText: "sold Mia" }).waitFor();
    await reserved.waitFor({ state: "detached" });
    await ui.leave(page);
  });

  test("today's page shows the figures of the shop, which follow a change", async () => {
    const { animals } = await read("/shop");
    const page = await ui.open();
    const figures = page.getByRole("region", { name: "The shop today" });
    const available = figures.getByRole("link", { name: /^Available/ });
    await available.getByText(String(animals.available), { exact: true }).click();
    await page.waitForURL(/status=available/);
    await page.keyboard.type("n");
    await dialogOf(page).getByLabel("Name").fill("Pia");
    await dialogOf(page).getByLabel("Category").selectOption("Birds");
    await dialogOf(page).getByRole("button", { name: "Add animal" }).click();
    await page.getByRole("link", { name: "Pia" }).waitFor();
    await page.keyboard.type("gt");
    await available.getByText(String(animals.available + 1), { exact: true }).waitFor();
    await ui.leave(page);
  });

  test("axe-core reports nothing, and all fits a telephone", async () => {
    for (const one of [ui, small]) {
      const id = await one.addPet({ name: "x".repeat(255), status: "available" });
      await place(one, id, "<b>Till</b>");
      for (const path of ["", "/orders", "/categories", `/animals/${id}`]) {
        const page = await one.open(path);
        await page
          .getByText(path === "/categories" ? "Birds" : "<b>Till</b>")
          .first()
          .waitFor();
        expect([path, await accessibilityViolations(page)]).toEqual([path, []]);
        expect([path, await fits(page)]).toEqual([path, true]);
        await one.leave(page);
      }
    }
  });
});
