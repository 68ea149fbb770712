// Animals from a CSV file, and back into one.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { csvLine, readCsv } from "../../console/src/shop/csv.ts";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";
import { numbers } from "../harness/numbers.ts";
import { eventually } from "../harness/program.ts";

describe("a CSV file", () => {
  test("is read with quotes, line feeds in fields, and either end of line", () => {
    const text = '\uFEFFname,status\r\n"a ""b"", c",sold\n\n"two\nlines",\nlast,';
    expect(readCsv(text)).toEqual([
      { line: 1, fields: ["name", "status"] },
      { line: 2, fields: ['a "b", c', "sold"] },
      { line: 4, fields: ["two\nlines", ""] },
      { line: 6, fields: ["last", ""] },
    ]);
  });

  test("is written so that it reads the same", () => {
    const values = ['"', ",", "\n", "\r\n", "=1+1", "", "🐈", "a"];
    expect(readCsv(csvLine(values))).toEqual([{ line: 1, fields: values }]);
  });

  test.each(['a"b\n', '"a"b\n', '"a'])("with a quote out of place is refused: %j", (text) => {
    expect(() => readCsv(text)).toThrow(expect.objectContaining({ line: 1 }));
  });
});

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

describe.skipIf(!hasBrowser)("in the console", () => {
  let ui: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
  });
  afterAll(() => ui.stop());

  const pets = async () => (await ui.service.call("GET", "/pets?limit=100", { key: ui.key })).json;
  test("all faults of a file are shown by line, and nothing is added", async () => {
    const page = await ui.open("/animals");
    await page.getByRole("button", { name: "Import" }).click();
    await choose(page, "name,category,status\nRex,Dogs,available\n,Dogs,\nTom,Cats,eaten\n");
    const alert = dialog(page).getByRole("alert");
    await alert.getByText("3 errors.").waitFor();
    expect(await alert.getByRole("listitem").allInnerTexts()).toEqual([
      "Line 3: Name: Fill this in.",
      'Line 4: No category is called "Cats".',
      "Line 4: Status: Use available, pending, sold.",
    ]);
    expect(await dialog(page).getByRole("button", { name: "Import" }).isDisabled()).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    await choose(page, "name,colour\nRex,red\n");
    await alert.getByText("Line 1: The column categoryId is missing.").waitFor();
    await choose(page, 'name,category\nRex,Dogs\nMax "the dog",Dogs\n');
    await alert.getByText("Line 3: This line is not valid CSV.").waitFor();
    await choose(page, "name,category,name,categoryId\nRex,Dogs,Tom,1\n");
    await alert.getByText("Line 1: Two columns hold the name.").waitFor();
    await alert.getByText("Line 1: Two columns hold the categoryId.").waitFor();
    await choose(page, "name,categoryId\nRex,9223372036854775808\nMax,-9223372036854775808\n");
    await alert.getByText("Line 2: Category: Enter a shorter number.").waitFor();
    await alert.getByText("1 error.").waitFor();
    await choose(page, "name,category\nRex,Dogs\nZoë,Dogs\n", "latin1");
    await alert.getByText("Line 3: Save the file as CSV UTF-8.").waitFor();
    await choose(page, "name,category,status\nRex,Dogs\n");
    await alert.getByText("Line 2: It has 2 fields, but there are 3 columns.").waitFor();
    expect(await pets()).toEqual([]);
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
    await dialog(page).getByText("1 animal to add").waitFor();
    await page.close();
  });

  test("a file is read once the categories are known", async () => {
    const page = await ui.open();
    await page.getByRole("heading", { name: "Today", exact: true }).waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(/\/v1\/categories/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.keyboard.type("ga");
    await page.getByRole("button", { name: "Import" }).click();
    const input = page.getByLabel("CSV file");
    expect(await input.isDisabled()).toBe(true);
    await input.setInputFiles(csv("name,category\nRex,Dogs\n"));
    held.resolve();
    await csvFile(page).waitFor();
    expect(await dialog(page).getByText("1 error.").count()).toBe(0);
    await choose(page, "name,category\nRex,Dogs\n");
    await dialog(page).getByText("1 animal to add").waitFor();
    await page.close();
  });

  test("a file is imported, even if responses are lost, and each animal is added once", async () => {
    const page = await ui.open("/animals");
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    let lost = 0;
    await page.route(/\/v1\/pets$/, async (route) => {
      if (lost++ % 5 !== 0) return route.continue();
      await route.fetch(); // the service does the work, and the response does not arrive
      return route.abort();
    });
    await page.getByRole("button", { name: "Import" }).click();
    const names = Array.from({ length: 40 }, (_, number) => `Pup, "${number}"`);
    const lines = names.map((name) => csvLine([name, 1, "available"]));
    await choose(page, `name,categoryId,status\n${lines.join("")}`);
    await dialog(page).getByText("40 animals to add").waitFor();
    await dialog(page).getByRole("button", { name: "Import" }).click();
    await page.getByRole("status").getByText("40 animals added from animals.csv").waitFor();
    expect((await pets()).map(({ name }: { name: string }) => name).toSorted()).toEqual(names.toSorted());
    expect(lost).toBeGreaterThan(40);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  test("an animal that the service rejects is named by its line, and a corrected file adds none twice", async () => {
    const { key } = await ui.service.newAccountWithKey("enterprise");
    const page = await ui.open("/animals", { key });
    await page.getByRole("button", { name: "Import" }).click();
    const names = Array.from({ length: 30 }, (_, number) => `Pup ${number % 15}`); // each twice
    await choose(page, fileOf(...names.with(20, "NUL \0")));
    const start = dialog(page).getByRole("button", { name: /^(Import|Try again)$/ });
    await start.click();
    const alert = dialog(page).getByRole("alert");
    await alert.getByText(/^Line 22: /).waitFor();
    await choose(page, fileOf("First", ...names));
    await alert.waitFor({ state: "detached" });
    await dialog(page)
      .getByText(/^\d+ of 31 animals added$/)
      .waitFor();
    await start.click();
    await page.getByRole("status").getByText("31 animals added from animals.csv").waitFor();
    const { json } = await ui.service.call("GET", "/pets?limit=100", { key });
    expect(json.map(({ name }: { name: string }) => name).toSorted()).toEqual(["First", ...names].toSorted());
    await page.close();
  });

  test("an animal whose category was missing is added by the next try", async () => {
    const strict = await TestConsole.start({ settings: { PETSTORE_STRICT_CATEGORIES: "true" } });
    const page = await strict.open("/animals");
    await page.getByRole("button", { name: "Import" }).click();
    await choose(page, "name,categoryId\nRex,1\n");
    await dialog(page).getByRole("button", { name: "Import" }).click();
    await dialog(page)
      .getByText(/^Line 2: /)
      .waitFor();
    await strict.addCategory("Dogs");
    await dialog(page).getByRole("button", { name: "Try again" }).click();
    await page.getByRole("status").getByText("1 animal added from animals.csv").waitFor();
    await strict.stop();
  });

  test("an import that is stopped adds no more", async () => {
    const before = (await pets()).length;
    const page = await ui.open("/animals");
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    let sent = 0;
    await page.route(/\/v1\/pets$/, (route) => (sent++ < 8 ? route.continue() : undefined)); // the ninth gets no response
    await page.getByRole("button", { name: "Import" }).click();
    await choose(page, `name,categoryId\n${"Pup,1\n".repeat(60)}`);
    await dialog(page).getByRole("button", { name: "Import" }).click();
    await dialog(page).getByText("8 of 60 animals added").waitFor();
    await dialog(page).getByRole("button", { name: "Stop" }).click();
    await dialog(page).waitFor({ state: "detached" });
    await eventually(async () => (await pets()).length === before + 8);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  test("the animals that pass the filters are exported", async () => {
    const page = await ui.open("/animals?status=available&sort=id");
    await page.getByRole("link", { name: 'Pup, "0"', exact: true }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    const records = readCsv(readFileSync(await download.path(), "utf8"));
    expect(records[0]?.fields).toEqual(["id", "name", "categoryId", "status", "metadata"]);
    const expected = (await pets()).filter(({ status }: { status?: string }) => status === "available");
    expect(records.slice(1).map(({ fields }) => fields[1])).toEqual(expected.map(({ name }: { name: string }) => name));
    await page.close();
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
    await page.close();
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
    await page.close();
  });
});
