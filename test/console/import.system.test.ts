// Animals from a CSV file, and back into one.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { CsvReader } from "../../csv/reader.ts";
import { csvLine } from "../../csv/writer.ts";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { numbers } from "../harness/numbers.ts";
import { eventually } from "../harness/program.ts";

/** The input is enabled once the categories are known. `setInputFiles` alone does not wait for this. */
const csvFile = (page: Page) => page.getByLabel("CSV file").and(page.locator(":enabled"));
const csv = (text: string, encoding: BufferEncoding = "utf8") => ({
  name: "animals.csv",
  mimeType: "text/csv",
  buffer: Buffer.from(text, encoding),
});
async function choose(page: Page, text: string, encoding?: BufferEncoding) {
  await csvFile(page).setInputFiles(csv(text, encoding));
}
const fileOf = (...names: string[]) => `name,categoryId\n${names.map((name) => `${name},1\n`).join("")}`;
const dialog = (page: Page) => page.getByRole("dialog", { name: "Import animals" });
const button = (page: Page, name: string | RegExp) => dialog(page).getByRole("button", { name });
const start = async (page: Page, text: string) => {
  await page.getByRole("button", { name: "Import" }).click();
  await choose(page, text);
  await button(page, /^(Import|Skip .*)$/).click();
};
const says = (page: Page, text: string | RegExp) => dialog(page).getByRole("status").getByText(text).waitFor();
const namesOf = (all: readonly { name: string }[]) => all.map(({ name }) => name);
/** 501 animals, each with these texts as metadata. */
const fileWith = (metadata: string[]) => {
  const pairs = JSON.stringify(Object.fromEntries(metadata.map((text, index) => [index, text])));
  const lines = Array.from({ length: 501 }, (_, number) => csvLine([`Pup ${number}`, 1, pairs]));
  return `name,categoryId,metadata\n${lines.join("")}`;
};

describe.skipIf(!hasBrowser)("in the console", () => {
  let ui: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
  });
  afterAll(() => ui.stop());

  const pets = async () => (await ui.service.call("GET", "/pets?limit=100", { key: ui.key })).json;
  test("all faults of a file are shown by line", async () => {
    const page = await ui.open("/animals");
    await page.getByRole("button", { name: "Import" }).click();
    await choose(page, "name,category,status\nRex,dOGS,available\n,Dogs,\nTom,Cats,eaten\nKim,Cats,\n");
    const alert = dialog(page).getByRole("alert");
    await alert.getByText("4 errors.").waitFor();
    expect(await alert.getByRole("listitem").allInnerTexts()).toEqual([
      "Line 3: Name: Fill this in.",
      'Lines 4, 5: No category is called "Cats".',
      "Line 4: Status: Use available, pending, sold.",
    ]);
    await dialog(page).getByRole("button", { name: "Skip 3 faulty rows, import the rest" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await choose(page, "name,colour\nRex,red\n");
    await alert.getByText("Line 1: The column category is missing.").waitFor();
    await choose(page, 'name,category\nRex,Dogs\n"Max" the dog,Dogs\n');
    await alert.getByText("Line 3: The line has something after a closing quote.").waitFor();
    await choose(page, "name,category,name,categoryId\nRex,Dogs,Tom,1\n");
    await alert.getByText("Line 1: Two columns hold the name.").waitFor();
    await alert.getByText("Line 1: Two columns hold the categoryId.").waitFor();
    await choose(page, "name,categoryId\nRex,9223372036854775808\nMax,-9223372036854775808\n");
    await alert.getByText("Line 2: Category: Enter a shorter number.").waitFor();
    await alert.getByText("1 error.").waitFor();
    await choose(page, "name,category\nRex,Dogs,sold\n");
    await alert.getByText("Line 2: It has 3 fields, but there are 2 columns.").waitFor();
    await choose(page, "name,category,status\nRex,Dogs\nZoë,Dogs\n", "latin1");
    await dialog(page).getByRole("cell", { name: "Zoë" }).waitFor();
    expect(await alert.count()).toBe(0);
    expect(await pets()).toEqual([]);
    await ui.leave(page);
  });

  test("the foot of a tall dialog stays within the window", async () => {
    const page = await ui.open("/animals");
    await page.getByRole("button", { name: "Import" }).click();
    const faulty = Array.from({ length: 12 }, (_, line) => `Rex,Cats ${line}\nMax,Dogs\n`).join("");
    await choose(page, `name,category\n${faulty}`);
    const foot = dialog(page).locator("footer");
    for (const height of [720, 800, 1_100]) {
      await page.setViewportSize({ width: 1280, height });
      const { y, height: own } = (await foot.boundingBox()) as { y: number; height: number };
      expect(y + own).toBeLessThanOrEqual(height);
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await button(page, "Cancel").click();
    await dialog(page).waitFor({ state: "detached" });
    await page.close();
  });

  test("a category that is not among the first 1,000 is not called unknown", async () => {
    const { account, key } = await ui.service.newAccountWithKey("enterprise");
    await ui.service.store.run(
      `${numbers(1_001)}
       INSERT INTO categories (shop, id, name, name_key) SELECT ${await ui.service.shop(account.id)}, n, 'Dogs ' || n, 'dogs ' || n FROM numbers`,
    );
    const page = await ui.open("/animals", { key });
    await page.getByRole("button", { name: "Import" }).click();
    await choose(page, "name,category\nRex,Dogs 1000\nMax,Dogs 1001\n");
    const alert = dialog(page).getByRole("alert");
    await alert
      .getByText('Line 3: None of the first 1,000 categories is called "Dogs 1001". Use categoryId.')
      .waitFor();
    await alert.getByText("1 error.").waitFor();
    await page.close();
  });

  test("a corrected file is chosen again, and cancelling the choice keeps the dialog", async () => {
    const page = await ui.open("/animals");
    await page.getByRole("button", { name: "Import" }).click();
    const input = csvFile(page);
    const path = join(mkdtempSync(join(tmpdir(), "import-")), "animals.csv");
    writeFileSync(path, "name,category\nRex,Cats\n");
    await input.setInputFiles(path);
    await dialog(page).getByText("1 error.").waitFor();
    await input.dispatchEvent("cancel");
    writeFileSync(path, "name,category\nRex,Dogs\n");
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), input.click()]);
    await chooser.setFiles(path);
    await dialog(page).getByText("1 animal in the file").waitFor();
    await ui.leave(page);
  });

  test("a file is read once the categories are known", async () => {
    const page = await ui.open();
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(/\/v1\/categories/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.reload(); // the page may have asked for them before
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    await page.keyboard.type("ga");
    await page.getByRole("button", { name: "Import" }).click();
    const input = page.getByLabel("CSV file");
    expect(await input.isDisabled()).toBe(true);
    await input.setInputFiles(csv("name,category\nRex,Dogs\n"));
    held.resolve();
    await csvFile(page).waitFor();
    expect(await dialog(page).getByText("1 error.").count()).toBe(0);
    await choose(page, "name,category\nRex,Dogs\n");
    await dialog(page).getByText("1 animal in the file").waitFor();
    await ui.leave(page);
  });

  test("shows the first rows before it imports them, and creates the categories that a file names", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise");
    const page = await ui.open("/animals", { key });
    await page.getByRole("button", { name: "Import" }).click();
    const rows = ["Rex,Birds,sold", "Tom,Fish,", "Kim, fISH,", "A,7,", "B,7,", "C,7,"];
    await choose(page, `sep=;\n${["name,category,status", ...rows].join("\n").replaceAll(",", ";")}`);
    const preview = dialog(page).getByRole("table", { name: "First rows" }).getByRole("row");
    await says(page, "3 animals in the file");
    expect((await preview.allInnerTexts()).map((row) => row.split(/\s+/))).toEqual([
      ["Line", "Name", "Category", "Price", "Status"],
      ["6", "A", "No.", "7", ""],
      ["7", "B", "No.", "7", ""],
      ["8", "C", "No.", "7", ""],
    ]);
    await dialog(page).getByText("No category has the number 7.").waitFor();
    await dialog(page).getByText("These categories do not exist yet: Birds, Fish").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await button(page, "Create 2 categories").click();
    await says(page, "6 animals in the file, of which the first 5 are shown");
    expect(await preview.nth(1).innerText()).toMatch(/3\s+Rex\s+Birds\s+Sold/);
    expect(await preview.count()).toBe(6); // with the head
    await button(page, "Import").click();
    await says(page, "6 animals added from animals.csv");
    const { json } = await ui.service.call("GET", "/pets", { key });
    expect(json.map(({ categoryId }: { categoryId: number }) => categoryId)).toEqual([1, 2, 2, 7, 7, 7]);
    await page.close();
  });

  test("skips faulty rows, also those that only the service finds, and names them", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise");
    const page = await ui.open("/animals", { key });
    await start(page, `name,categoryId\nA,1\n,1\nB,x\nN\u0000UL,1\nC,1\n`);
    await says(page, "2 animals added from animals.csv");
    const skipped = dialog(page).getByRole("listitem");
    expect(await skipped.allInnerTexts()).toEqual([
      "Line 3: Name: Fill this in.",
      "Line 4: Category: Enter a whole number.",
      expect.stringMatching(/^Line 5: Name: .*U\+0000/),
    ]);
    expect(namesOf((await ui.service.call("GET", "/pets", { key })).json)).toEqual(["A", "C"]);
    await button(page, "Done").click();
    await dialog(page).waitFor({ state: "detached" });
    await page.close();
  });

  test("an animal that the service rejects stops the import, which says what is in and can skip it", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise");
    const page = await ui.open("/animals", { key });
    const names = Array.from({ length: 600 }, (_, number) => `Pup ${number}`);
    await start(page, fileOf(...names.with(550, "NUL \0")));
    await dialog(page)
      .getByRole("alert")
      .getByText(/^Line 552: Name: /)
      .waitFor();
    await says(page, "500 of 600 animals added");
    await says(page, "In the shop are those of the lines 2 to 501.");
    expect(await accessibilityViolations(page)).toEqual([]);
    await button(page, "Skip faulty rows").click();
    await says(page, "599 animals added from animals.csv");
    await dialog(page).getByText("1 row skipped:").waitFor();
    expect((await ui.service.call("GET", "/shop", { key })).json.animals.total).toBe(599);
    await page.close();
  });

  test("sends 500 animals a request, fewer if they are too large, and each is added once although responses are lost", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise");
    const page = await ui.open("/animals", { key });
    let requests = 0;
    await page.route(/\/v1\/pets\/import$/, async (route) => {
      if (requests++ % 2 !== 0) return route.continue();
      await route.fetch(); // the service does the work, and the response does not arrive
      return route.abort();
    });
    await start(page, fileWith(["short"]));
    await says(page, "501 animals added from animals.csv");
    expect(requests).toBe(4);
    await button(page, "Done").click();
    await start(page, fileWith(Array.from({ length: 4 }, () => "x".repeat(500)))); // one megabyte
    await says(page, "501 animals added from animals.csv");
    const total = async () => (await ui.service.call("GET", "/shop", { key })).json.animals.total;
    expect(await total()).toBe(1_002);
    await button(page, "Undo the import").click();
    await page.getByRole("button", { name: "Delete 501 animals" }).click();
    await page.locator(".toasts").getByText("The import is undone").waitFor();
    expect(await total()).toBe(501);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  test("an animal whose category was missing is added by the next try", async () => {
    const strict = await TestConsole.start({ settings: { PETSTORE_STRICT_CATEGORIES: "true" } });
    const page = await strict.open("/animals");
    await start(page, "name,categoryId\nRex,1\n");
    await dialog(page)
      .getByText(/^Line 2: Category: /)
      .waitFor();
    await says(page, "0 of 1 animal added");
    await strict.leave(page);
    await strict.addCategory("Dogs");
    const again = await strict.open("/animals");
    await start(again, "name,categoryId\nRex,1\n");
    await says(again, "1 animal added from animals.csv");
    await strict.stop();
  });

  test("an import that is stopped says what is in, continues, and is taken back", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise");
    const total = async () => (await ui.service.call("GET", "/shop", { key })).json.animals.total;
    const page = await ui.open("/animals", { key });
    const held = Promise.withResolvers<void>();
    let sent = 0;
    await page.route(/\/v1\/pets\/import$/, async (route) => {
      if (++sent === 2) await held.promise;
      return route.continue();
    });
    const names = Array.from({ length: 1_700 }, (_, number) => `Pup ${number}`);
    await start(page, `name,categoryId,status\n${names.map((name) => `${name},1,available\n`).join("")}`);
    await says(page, "500 of 1,700 animals added");
    await button(page, "Stop").click();
    await button(page, "Stopping…").waitFor(); // the part that is on its way arrives
    held.resolve();
    await says(page, "In the shop are those of the lines 2 to 1,001.");
    expect(await total()).toBe(1_000);
    await button(page, "Continue").click();
    await says(page, "1,700 animals added from animals.csv");
    const { json: order } = await ui.service.call("POST", "/store/orders", { key, body: { petId: 2 } });
    await ui.service.call("POST", `/store/orders/${order.id}/confirm`, { key });
    expect(await accessibilityViolations(page)).toEqual([]);
    await button(page, "Undo the import").click();
    await page.getByText("Those that are reserved or sold stay.").waitFor();
    await page.getByRole("button", { name: "Delete 1,700 animals" }).click();
    await page.locator(".toasts").getByText("The import is undone, but for Pup 1").waitFor();
    expect(await total()).toBe(1);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  test("an import that stops without a connection says what is not known, and its undo deletes that too", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise");
    const total = async () => (await ui.service.call("GET", "/shop", { key })).json.animals.total;
    const page = await ui.open("/animals", { key });
    await page.route(/\/v1\/pets\/import$/, async (route) => {
      await route.fetch();
      return route.abort();
    });
    await start(page, fileOf("Rex", "Tom"));
    await eventually(async () => (await total()) === 2);
    await button(page, "Stop").click();
    await says(page, "The service has not confirmed the lines 2 to 3.");
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await button(page, "Undo the import").click();
    await page.getByRole("button", { name: "Delete the animals" }).click();
    await page.locator(".toasts").getByText("The import is undone").waitFor();
    expect(await total()).toBe(0);
    await page.close();
  });

  test("the animals that pass the filters are exported", async () => {
    await ui.addPet({ name: 'Pup, "0"', status: "available" });
    const page = await ui.open("/animals?status=available&sort=id");
    await page.getByRole("link", { name: 'Pup, "0"', exact: true }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    const { records } = new CsvReader().read(readFileSync(await download.path(), "utf8"));
    expect(records[0]?.fields).toEqual([
      "id",
      "name",
      "categoryId",
      "status",
      "reference",
      "price",
      "currency",
      "metadata",
    ]);
    const expected = (await pets()).filter(({ status }: { status?: string }) => status === "available");
    expect(records.slice(1).map(({ fields }) => fields[1])).toEqual(expected.map(({ name }: { name: string }) => name));
    await ui.leave(page);
  });

  test("an export that failed is retried", async () => {
    const page = await ui.open("/animals?status=available");
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    await page.route(/\/v1\/pets\?.*limit=100/, (route) =>
      route.continue({ headers: { ...route.request().headers(), "petstore-simulate": "internal_error" } }),
    );
    await page.getByRole("button", { name: "Export" }).click();
    const retry = page.getByRole("dialog").getByRole("button", { name: "Try again" });
    await retry.waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await Promise.all([page.waitForEvent("download"), retry.click()]);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await ui.leave(page);
  });

  test("an export shows how many animals it has read, without the header of its file", async () => {
    while ((await pets()).length < 100) await ui.addPet({ name: "Pup" });
    await ui.addPet({ name: "Pup" });
    const page = await ui.open("/animals");
    await page.route(/\/v1\/pets\?.*limit=100/, async (route) => {
      if (route.request().url().includes("cursor=")) return; // the second page gets no response
      const response = await route.fetch();
      await route.fulfill({ response, json: (await response.json()).slice(1) });
    });
    await page.getByRole("button", { name: "Export" }).click();
    const progress = page.getByRole("dialog", { name: "Export animals" }).getByRole("status");
    await progress.getByText("99 animals read so far").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await ui.leave(page);
  });
});
