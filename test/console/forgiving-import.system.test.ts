// Files as people's spreadsheets write them: a German Excel, blank rows, names of columns in any case; twice; taken back later.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole, untilLive } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const dialog = (page: Page) => page.getByRole("dialog");
const button = (page: Page, name: string | RegExp) => dialog(page).getByRole("button", { name });
async function choose(page: Page, buffer: Buffer, name = "tiere.csv") {
  await page.getByRole("button", { name: "Import" }).click();
  const input = page.getByLabel("CSV file").and(page.locator(":enabled"));
  await input.setInputFiles({ name, mimeType: "text/csv", buffer });
}
/** What a German Excel saves as CSV: the characters of Western Europe, semicolons, decimal commas, empty cells at the end. */
const excel = [
  "Name;CATEGORY;Price;Status;Farbe;;",
  "Bärbel;Dogs;1.290,50;available;braun;;",
  ";;;;;;",
  "Otto;dogs;95;Available;;;",
  ";Dogs;10;;;;",
  "Max;Dogs;teuer;;;;",
  "Kim;Dogs;10;weg;;;",
  "Zoé;DOGS;12,5;;weiß;;",
  ";;;;;;",
].join("\r\n");

const eur = (amount: number) => ({ amount, currency: "EUR" });

describe.skipIf(!hasBrowser)("an import", () => {
  let ui: TestConsole;
  const call = (method: string, path: string, body?: unknown) => ui.service.call(method, path, { key: ui.key, body });
  const pets = async () => (await call("GET", "/pets?limit=100")).json as Record<string, unknown>[];
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
    await call("PATCH", "/shop", { currency: "EUR" });
  });
  afterAll(() => ui.stop());

  test("of a German Excel leaves out what it does not know, says which rows are wrong, and takes the rest", async () => {
    const page = await ui.open("/animals");
    await choose(page, Buffer.from(excel, "latin1"));
    await dialog(page).getByText("This column is left out:").waitFor();
    await dialog(page).getByText("Farbe").waitFor();
    const faults = dialog(page).getByRole("alert").getByRole("listitem");
    expect(await faults.allInnerTexts()).toEqual([
      "Line 5: Name: Fill this in.",
      "Line 6: Price: Enter a price such as 129.00.",
      "Line 7: Status: Use available, pending, sold.",
    ]);
    expect(await accessibilityViolations(page)).toEqual([]);
    await button(page, "Skip 3 faulty rows, import the rest").click();
    await dialog(page).getByText("3 animals added from tiere.csv").waitFor();
    expect(await pets()).toMatchObject([
      { name: "Bärbel", price: eur(129_050), status: "available" },
      { name: "Otto", price: eur(9_500), status: "available" },
      { name: "Zoé", price: eur(1_250) },
    ]);
    await button(page, "Done").click();
    await ui.leave(page);
  });

  test("of the same content is noticed, and the first one can be taken back from there", async () => {
    const page = await ui.open("/animals");
    await choose(page, Buffer.from(excel, "latin1"), "kopie.csv");
    await dialog(page).getByText("This file was imported before:").waitFor();
    await dialog(page).getByText("3 animals of tiere.csv").waitFor();
    await button(page, "Undo that import").click();
    await button(page, "Delete 3 animals").click();
    await page.locator(".toasts").getByText("The import is undone").waitFor();
    expect(await pets()).toEqual([]);
    await dialog(page).getByText("3 animals in the file").waitFor(); // the file is still chosen
    await dialog(page).getByText("This file was imported before:").waitFor({ state: "detached" });
    await ui.leave(page);
  });

  test("is one deed with its true number, which can be undone as long as nothing is sold; elsewhere each request is one", async () => {
    const elsewhere = await TestConsole.forService(ui.service, ui.key);
    const other = await elsewhere.open();
    await untilLive(other);
    const page = await ui.open("/animals");
    const file = `name,category\n${Array.from({ length: 1_203 }, (_, number) => `Pup ${number},Dogs\n`).join("")}`;
    await choose(page, Buffer.from(file), "pups.csv");
    await button(page, "Import").click();
    await dialog(page).getByText("1,203 animals added from pups.csv").waitFor();
    await button(page, "Done").click();
    await page.keyboard.type("gt");
    const deeds = page.getByRole("list", { name: "Events" }).getByRole("listitem");
    await deeds.first().getByText("1,203 animals").waitFor();
    expect(await deeds.filter({ hasText: /added.*animals/ }).count()).toBe(1);
    const told = other.getByRole("list", { name: "Events" }).getByRole("listitem").filter({ hasText: "added" });
    await told.first().getByText("203 animals").waitFor();
    const fresh = await elsewhere.open();
    await fresh.getByRole("list", { name: "Events" }).getByText("203 animals").waitFor();
    await elsewhere.browser.stop();

    await page.getByRole("button", { name: "Undo the import of pups.csv" }).click();
    await button(page, "Delete 1,203 animals").click();
    await page.locator(".toasts").getByText("The import is undone").waitFor();
    await eventually(pets, (all) => all.length === 0);
    await ui.leave(page);
  });

  test("is followed by what had happened before it, and tells no reference of one of its animals", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise");
    const send = (path: string, body: object) => ui.service.call("POST", path, { key, body });
    const { json: sold } = await send("/pets", { name: "Before", categoryId: 1, status: "available" });
    await send("/store/orders", { petId: sold.id, confirm: true });
    const animals = Array.from({ length: 120 }, (_, index) => ({
      name: "Many",
      categoryId: 1,
      reference: `M-${index}`,
    }));
    await send("/pets/import", { animals });
    const page = await ui.open("", { key });
    const deeds = page.getByRole("list", { name: "Events" }).getByRole("listitem");
    await deeds.filter({ hasText: "sold" }).getByText("Before").waitFor();
    await deeds.first().getByText("120 animals").waitFor();
    expect(await deeds.first().getByText(/^M-/).count()).toBe(0);
    await page.close();
  });

  test("takes animals as available if the file does not say what they are, and keeps the focus", async () => {
    const page = await ui.open("/animals");
    await choose(page, Buffer.from("name,category\nBruno,Dogs\n"), "bruno.csv");
    await dialog(page).getByRole("row", { name: "Bruno Dogs Available" }).waitFor();
    await button(page, "Import").click();
    await dialog(page).getByText("1 animal added from bruno.csv").waitFor();
    expect(await page.evaluate<string>("document.activeElement.tagName")).toBe("DIALOG"); // the button is gone
    await button(page, "Undo the import").click();
    await button(page, "Delete 1 animal").click();
    await page.locator(".toasts").getByText("The import is undone").waitFor();
    await ui.leave(page);
  });

  test("updates animals whose reference exists, or leaves them as they are", async () => {
    await call("POST", "/pets", { name: "Rex", categoryId: 1, reference: "CHIP-1" });
    const page = await ui.open("/animals");
    const file = "name,category,Reference,price\nRex,Dogs,CHIP-1,50\nNew,Dogs,CHIP-2,60\n";
    await choose(page, Buffer.from(file), "one.csv");
    await dialog(page).getByRole("row", { name: "Rex Exists Dogs" }).waitFor();
    expect(await dialog(page).getByText("Exists", { exact: true }).count()).toBe(1);
    await button(page, "Import").click();
    await dialog(page).getByText("1 animal added from one.csv, 1 existed").waitFor();
    await button(page, "Done").click();
    expect((await pets()).map(({ price }) => price)).toEqual([undefined, { amount: 6_000, currency: "EUR" }]);
    await choose(page, Buffer.from(`${file}\n`), "two.csv");
    await button(page, "Update").click();
    await button(page, "Import").click();
    await dialog(page).getByText("0 animals added from two.csv, 2 existed").waitFor();
    expect((await pets())[0]?.["price"]).toEqual({ amount: 5_000, currency: "EUR" });
    await ui.leave(page);
  });
});
