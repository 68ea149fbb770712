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
    await page.getByRole("button", { name: "Sell animal" }).click();
    await dialogOf(page).getByRole("button", { name: "Reserve" }).first().click();
    await dialogOf(page).getByLabel("Animal").fill(String(rex));
    await dialogOf(page).getByLabel("Reference").fill("Till 1");
    await dialogOf(page).getByRole("button", { name: "Reserve" }).last().click();
    await page.getByRole("status").getByText("Rex: reserved").waitFor();
    const row = page.getByRole("row").filter({ hasText: "Till 1" });
    await row
      .getByRole("cell", { name: /\d+:\d\d left/ })
      .first()
      .waitFor();
    await row.getByRole("link", { name: "Rex" }).waitFor();
    await row.getByRole("button", { name: "Confirm sale" }).click();
    await page.getByRole("status").getByText("Rex: sold").waitFor();
    await page.getByRole("button", { name: "Sold", exact: true }).click();
    expect(page.url()).toEndWith("/orders?status=confirmed");
    await page.getByLabel("Search by reference").fill("Till 1");
    await page.waitForURL(/reference=Till/);
    await row.getByRole("button", { name: "Return" }).click();
    await eventually(
      () => read(`/pets?ids=${rex}`),
      ([pet]) => pet.status === "available",
    );
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
    await page.getByRole("table", { name: "Open orders" }).getByRole("link", { name: "Lou" }).waitFor();
    await page.close();
  });

  test("an animal is sold at once on its page, by keyboard, and the sale is undone", async () => {
    const id = await ui.addPet({ name: "Ben", status: "available" });
    const page = await ui.open(`/animals/${id}`);
    await page.getByRole("button", { name: "Sell", exact: true }).press("Enter");
    await page.getByRole("dialog", { name: "Sell Ben" }).getByLabel("Reference").fill("Till 5");
    await page.keyboard.press("Enter");
    const toasts = page.getByRole("status");
    await toasts.getByText("Ben: sold").waitFor();
    await page.getByRole("button", { name: "Return Till 5" }).waitFor();
    expect((await read(`/pets?ids=${id}`))[0].status).toBe("sold");
    await toasts.getByRole("button", { name: "Undo" }).click();
    await toasts.getByText("Ben: returned, and available again").waitFor();
    expect((await read(`/pets?ids=${id}`))[0].status).toBe("available");
    await page.close();
  });

  test("an order for an animal that is not available is refused with the reason", async () => {
    const sold = await ui.addPet({ name: "Sold", status: "sold" });
    const page = await ui.open("/orders");
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    await page.keyboard.type("n");
    await dialogOf(page).getByLabel("Animal").waitFor();
    await page.keyboard.type(`${sold}`);
    await page.keyboard.press("Enter");
    await dialogOf(page).getByRole("alert").getByText("pet_not_available").waitFor();
    await page.close();
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
    await page.close();
  });

  test("a category is added, renamed, and deleted after its animals have gone to another", async () => {
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
    await dialogOf(page).getByRole("alert").getByText("category_name_taken").waitFor();
    await dialogOf(page).getByLabel("Name").fill("Fishes");
    await dialogOf(page).getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "Fishes" }).waitFor();

    await page.reload();
    await page
      .getByRole("row", { name: /Fishes/ })
      .getByRole("cell", { name: "1", exact: true })
      .waitFor();
    await page.getByRole("button", { name: "Delete Fishes" }).click();
    await dialogOf(page).getByRole("button", { name: "Delete category" }).click();
    await dialogOf(page).getByText("Fill this in.").waitFor();
    expect(await dialogOf(page).getByRole("option", { name: "Fishes" }).count()).toBe(0);
    await dialogOf(page).getByLabel("Move to").selectOption("Birds");
    await dialogOf(page).getByRole("button", { name: "Delete category" }).click();
    await page.getByRole("link", { name: "Fishes" }).waitFor({ state: "detached" });
    expect((await read(`/pets?ids=${nemo}`))[0].categoryId).toBe(3);
    await page.close();
  });

  test("an animal's page tells what happened to it, and who did it", async () => {
    const id = await ui.addPet({ name: "Otto", status: "available" });
    await ui.service.call("PATCH", `/pets/${id}`, { key: ui.key, body: { name: "Otto II", categoryId: 2 } });
    await place(ui, id, "Till 7");
    const page = await ui.open(`/animals/${id}`);
    const history = page.locator("ol.events");
    await history.getByText("Name: Otto → Otto II").waitFor();
    await history.getByText("Category: Dogs → Cats").waitFor();
    await history.getByText("available → pending").waitFor();
    await eventually(async () => (await history.getByText("(your key)").count()) === 4);
    await page.getByRole("button", { name: "Cancel Till 7" }).click();
    await page.getByRole("cell", { name: "Cancelled" }).waitFor();
    await page.keyboard.type("e");
    await dialogOf(page).getByLabel("Name").fill("Otto III");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Otto III" }).waitFor();
    await page.close();
  });

  test("pairs are kept with animals, categories and orders, and a wrong one is marked", async () => {
    const id = await ui.addPet({ name: "Nele", status: "available", metadata: { shelf: "B-12", old: "1" } });
    await place(ui, id, "Till 8");
    const page = await ui.open(`/animals/${id}`);
    const dialog = dialogOf(page);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await dialog.getByRole("button", { name: "Remove pair 2" }).click();
    await dialog.getByLabel("Value 1").fill("C-3");
    await dialog.getByRole("button", { name: "Add a pair" }).click();
    await dialog.getByLabel("Value 2").fill("Tiny Paws");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Each value needs a key of its own.").waitFor();
    expect(await dialog.getByLabel("Key 2").getAttribute("aria-invalid")).toBe("true");
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByLabel("Key 2").fill("x".repeat(41));
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/^x{41} /).waitFor(); // the service names the pair
    await dialog.getByLabel("Key 2").fill("supplier");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Tiny Paws", { exact: true }).waitFor();
    expect((await read(`/pets?ids=${id}`))[0].metadata).toEqual({ shelf: "C-3", supplier: "Tiny Paws" });

    await page.getByRole("button", { name: "Edit Till 8" }).click();
    await dialog.getByRole("button", { name: "Add a pair" }).click();
    await dialog.getByLabel("Key 1").fill("<b>till</b>");
    await dialog.getByLabel("Value 1").fill("שלום 🐕");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    const order = async () => (await read(`/store/orders?reference=Till 8`))[0];
    expect((await order()).metadata).toEqual({ "<b>till</b>": "שלום 🐕" });

    // Another user adds a pair and changes one while the form is open.
    const patch = async (metadata: object) =>
      ui.service.call("PATCH", `/store/orders/${(await order()).id}`, { key: ui.key, body: { metadata } });
    await patch({ shelf: "A", box: "1" });
    await page.getByRole("button", { name: "Edit Till 8" }).click();
    await dialog.getByLabel("Value 3").waitFor();
    await patch({ shelf: "B", room: "2" });
    const box = (await Promise.all([1, 2, 3].map((pair) => dialog.getByLabel(`Key ${pair}`).inputValue()))).indexOf(
      "box",
    );
    await dialog.getByLabel(`Value ${box + 1}`).fill("9");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await order()).metadata).toEqual({ "<b>till</b>": "שלום 🐕", shelf: "B", room: "2", box: "9" });

    await page.keyboard.type("gc");
    await page.getByRole("button", { name: "Edit Birds" }).click();
    await dialog.getByRole("button", { name: "Add a pair" }).click();
    await dialog.getByLabel("Key 1").fill("room");
    await dialog.getByLabel("Value 1").fill("2");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await read("/categories/3")).metadata).toEqual({ room: "2" });
    await page.close();
  });

  test("an address of an animal that is not there says so", async () => {
    for (const id of ["999999", "nonsense"]) {
      const page = await ui.open(`/animals/${id}`);
      await page.getByText("No animal has this number.").waitFor();
      await page.close();
    }
  });

  test("today's page shows open orders, the latest changes and the limits", async () => {
    const id = await ui.addPet({ name: "Mia", status: "available" });
    await place(ui, id, "Till 9");
    const page = await ui.open();
    await page.getByRole("table", { name: "Open orders" }).getByText("Till 9").waitFor();
    await page.getByLabel("Events").getByText("Reserved").first().waitFor();
    await page.getByText(/This minute: [\d,]+ of 1,000,000 requests/).waitFor();
    await page.close();
  });

  test("today's page shows the figures of the shop, which follow a change", async () => {
    await ui.addPet({ name: "Kim" }); // without a status
    const { animals } = await read("/shop");
    const page = await ui.open();
    const region = page.getByRole("region", { name: "Animals", exact: true });
    await region.getByText(`${animals.total} animals`).waitFor();
    const grows = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.shares span')].map((e) => e.style.flexGrow)",
    );
    expect(grows.reduce((sum, share) => sum + Number(share), 0)).toBe(animals.total);
    await page.getByRole("region", { name: "So far today" }).getByText("Sold").waitFor();
    await region
      .getByRole("link", { name: String(animals.available), exact: true })
      .first()
      .click();
    await page.waitForURL(/status=available/);
    await page.keyboard.type("n");
    await dialogOf(page).getByLabel("Name").fill("Pia");
    await dialogOf(page).getByLabel("Category").selectOption("Birds");
    await dialogOf(page).getByRole("button", { name: "Add animal" }).click();
    await page.getByRole("link", { name: "Pia" }).waitFor();
    await page.keyboard.type("gt");
    await region.getByText(`${animals.total + 1} animals`).waitFor();
    await page.close();
  });

  test.each(["light", "dark"] as const)(
    "in %s colours, axe-core reports nothing, and all fits a telephone",
    async (colors) => {
      for (const one of [ui, small]) {
        const id = await one.addPet({ name: "x".repeat(255), status: "available" });
        await place(one, id, "<b>Till</b>");
        for (const path of ["", "/orders", "/categories", `/animals/${id}`]) {
          const page = await one.open(path, { colors });
          await page
            .getByText(path === "/categories" ? "Birds" : "<b>Till</b>")
            .first()
            .waitFor();
          expect([path, await accessibilityViolations(page)]).toEqual([path, []]);
          expect([path, await fits(page)]).toEqual([path, true]);
          await page.close();
        }
      }
    },
  );
});
