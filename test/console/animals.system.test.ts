// The page of the animals, by pointer, by keyboard and on a telephone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { choose, remove, TestConsole } from "../harness/console.ts";
import { numbers } from "../harness/numbers.ts";
import { eventually } from "../harness/program.ts";

const hostile = [
  "<img src=x onerror=alert(1)>",
  "</script><script>alert(1)</script>",
  "שלום עולם",
  "\u202Eevil\u202C & <b>bold</b>",
  "🐈‍⬛🐕🦜",
  "x".repeat(255),
  "{{name}} ${name} %s",
];

const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const row = (page: Page, name: string) => page.getByRole("row").filter({ has: link(page, name) });

describe.skipIf(!hasBrowser)("the page of the animals", () => {
  let ui: TestConsole;
  let small: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    small = await TestConsole.start({ width: 390 });
    for (const one of [ui, small]) {
      await one.addCategory("Dogs");
      await one.addCategory("Cats");
    }
  });
  afterAll(async () => {
    await ui.stop();
    await small.stop();
  });

  const statusOf = async (id: number) =>
    (await ui.service.call("GET", `/pets?ids=${id}`, { key: ui.key })).json[0]?.status;

  test("adds, changes and deletes an animal by pointer", async () => {
    const page = await ui.open("/animals");
    await page.getByRole("button", { name: "Add the first animal" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Ida");
    await dialog.getByLabel("Category").selectOption("Dogs");
    await dialog.getByRole("button", { name: "Add animal" }).click();
    await dialog.waitFor({ state: "detached" });
    await row(page, "Ida").getByRole("cell", { name: "Dogs" }).waitFor();
    await page.getByRole("status").getByText("Ida added").waitFor();

    await choose(page, "Edit", "Ida");
    await dialog.getByLabel("Name").fill("Ida II");
    await dialog.getByLabel("Category").selectOption("Cats");
    await dialog.getByRole("button", { name: "Save" }).click();
    await row(page, "Ida II").getByRole("cell", { name: "Cats" }).waitFor();

    await choose(page, "Edit", "Ida II");
    await dialog.getByLabel("Name").fill(""); // an animal cannot be without a name, a category or its status
    await dialog.getByLabel("Category").selectOption("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Fill this in.").nth(1).waitFor();
    expect(await dialog.getByLabel("Status").getByRole("option").allInnerTexts()).toEqual([
      "Available",
      "Pending",
      "Sold",
    ]);
    await page.keyboard.press("Escape");

    await remove(page, "Ida II");
    await link(page, "Ida II").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await link(page, "Ida II").waitFor();
    await remove(page, "Ida II");
    await page.close({ runBeforeUnload: true }); // who leaves the page wants it done
    await eventually(async () => (await ui.service.call("GET", "/pets", { key: ui.key })).json.length === 0);
  });

  test("adds three animals of a category, which does not exist yet, with few clicks", async () => {
    const page = await ui.open("/animals");
    const dialog = page.getByRole("dialog");
    let clicks = 0;
    const click = (name: string) => {
      clicks++;
      return page.getByRole("button", { name, exact: true }).last().click();
    };
    await click("Add animal");
    await dialog.getByLabel("Name").fill("Ara");
    await dialog.getByLabel("Status").selectOption("Sold");
    await dialog.getByLabel("Category").selectOption("New category…");
    clicks += 2;
    await page.keyboard.type("dogs"); // one that exists is chosen
    await page.keyboard.press("Tab");
    await dialog
      .getByRole("combobox", { name: "Category" })
      .locator("option:checked", { hasText: "Dogs" })
      .waitFor({ state: "attached" });
    await dialog.getByLabel("Category").selectOption("New category…");
    await page.keyboard.type("Parrots");
    await dialog.getByText("A new category. It is created when you save.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    for (const name of ["Ari", "Aro"]) {
      await click("Save and add another");
      await dialog.getByRole("status").getByText("added").waitFor();
      await dialog.locator("input[id]:focus").waitFor(); // the name, which is empty
      await page.keyboard.type(name);
    }
    await dialog.getByRole("status").getByText("Ara added").waitFor();
    await click("Add animal");
    expect(clicks).toBeLessThanOrEqual(7);
    for (const name of ["Ara", "Ari", "Aro"]) await row(page, name).getByRole("cell", { name: "Parrots" }).waitFor();
    const { json } = await ui.service.call("GET", "/pets?sort=-id&limit=3", { key: ui.key });
    expect(json.map(({ name, status }: Record<string, string>) => [name, status])).toEqual([
      ["Aro", "available"],
      ["Ari", "available"],
      ["Ara", "sold"],
    ]);
    for (const { id } of json) await ui.service.call("DELETE", `/pets/${id}`, { key: ui.key });
    await ui.leave(page);
  });

  test("adds and imports animals on a page over plain HTTP, where browsers have no crypto.randomUUID", async () => {
    const page = await ui.browser.open("about:blank");
    await page.addInitScript("delete Crypto.prototype.randomUUID");
    await page.goto(`${ui.origin}/console/animals#key=${ui.key}`);
    await page.getByRole("button", { name: "Add animal" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Plain");
    await dialog.getByLabel("Category").selectOption("Dogs");
    await dialog.getByRole("button", { name: "Add animal" }).click();
    await row(page, "Plain").waitFor();
    await page.getByRole("button", { name: "Import" }).click();
    const buffer = Buffer.from("name,category\nImported,Dogs\n");
    await page.getByLabel("CSV file").setInputFiles({ name: "animals.csv", mimeType: "text/csv", buffer });
    await dialog.getByRole("button", { name: "Import" }).click();
    await row(page, "Imported").waitFor();
    await page.close();
  });

  test("deletes all selected animals when the page is left", async () => {
    const names = Array.from({ length: 12 }, (_, number) => `Pup ${number}`);
    for (const name of names) await ui.addPet({ name });
    const page = await ui.open("/animals");
    await link(page, "Pup 0").waitFor();
    await page.getByLabel("Select all on this page").check();
    await page.getByRole("button", { name: "Delete…", exact: true }).click();
    await page.getByRole("button", { name: /^Delete \d+ animals$/ }).click();
    await link(page, "Pup 0").waitFor({ state: "detached" });
    await page.close({ runBeforeUnload: true });
    await eventually(async () => (await ui.service.call("GET", "/pets", { key: ui.key })).json.length === 0);
  });

  test("adds an animal by keyboard alone, and says beside each field what is wrong with it", async () => {
    const page = await ui.open("/animals");
    await page.getByRole("heading", { name: "Animals" }).waitFor();
    await page.keyboard.type("n");
    const dialog = page.getByRole("dialog", { name: "Add an animal" });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.type("n");
    await dialog.waitFor();
    await page.keyboard.press("Enter"); // the first field has the focus
    await dialog.getByText("Fill this in.").first().waitFor();
    expect(await dialog.getByLabel("Name").getAttribute("aria-invalid")).toBe("true");
    await dialog.getByRole("option", { name: "Dogs" }).waitFor({ state: "attached" });
    await page.keyboard.type("Kim");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Dogs");
    for (const _ of ["status", "price", "currency", "reference", "pair", "cancel", "add another", "add"])
      await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await link(page, "Kim").waitFor();
    await ui.leave(page);
  });

  test("sells an animal, undoes it, and sells and corrects many at once", async () => {
    const [first, second, third] = [
      await ui.addPet({ name: "Ben", status: "available" }),
      await ui.addPet({ name: "Bo", status: "available" }),
      await ui.addPet({ name: "Bob", status: "pending" }),
    ];
    const page = await ui.open("/animals");
    await row(page, "Ben").hover();
    await page.getByRole("button", { name: "Sell Ben" }).click();
    await page.keyboard.press("Enter");
    await eventually(async () => (await statusOf(first)) === "sold");
    await page.getByRole("button", { name: "Undo" }).click();
    await eventually(async () => (await statusOf(first)) === "available");
    await row(page, "Ben").getByText("Available").waitFor();
    for (const name of ["Ben", "Bo", "Bob"]) await page.getByLabel(`Select ${name}`, { exact: true }).check();
    await page.getByText("3 animals selected").waitFor();
    await page.getByRole("button", { name: "Sell 2 of them…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Sell 2 animals" }).click();
    for (const id of [first, second]) await eventually(async () => (await statusOf(id)) === "sold");
    await page.getByRole("button", { name: "Undo" }).last().click();
    for (const id of [first, second]) await eventually(async () => (await statusOf(id)) === "available");
    for (const name of ["Bo", "Bob"]) await page.getByLabel(`Select ${name}`, { exact: true }).check();
    await page.getByRole("button", { name: "Correct status…" }).click();
    await page.getByRole("dialog").getByText("It is no sale").waitFor();
    await page.getByRole("dialog").getByLabel("Status").selectOption("Sold");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Correct" }).click();
    for (const id of [second, third]) await eventually(async () => (await statusOf(id)) === "sold");
    await ui.leave(page);
  });

  test("keeps filters and pages in the address", async () => {
    for (let number = 1; number <= 60; number++)
      await ui.addPet({ name: `Cat ${number}`, categoryId: 2, status: "available" });
    const page = await ui.open("/animals");
    await page.getByRole("option", { name: /^Cats \(\d+\)$/ }).waitFor({ state: "attached" });
    await page.getByLabel("Category").selectOption("2");
    await link(page, "Ben").waitFor({ state: "detached" });
    await link(page, "Cat 60").waitFor();
    await page.setViewportSize({ width: 800, height: 200 });
    await page.getByRole("button", { name: "Next" }).click();
    await link(page, "Cat 1").waitFor();
    expect(await page.evaluate("scrollY")).toBe(0); // the next page begins at its top
    const address = page.url();
    expect(address).toMatch(/\?category=2&cursor=/);
    await page.getByRole("button", { name: "Previous" }).click();
    await link(page, "Cat 60").waitFor();
    await page.goBack();
    await link(page, "Cat 1").waitFor();
    await page.keyboard.type("[");
    await link(page, "Cat 60").waitFor();
    const shared = await ui.open(new URL(address).pathname.replace("/console", "") + new URL(address).search);
    await link(shared, "Cat 1").waitFor();
    await Promise.all([page.close(), shared.close()]);
  });

  test("finds animals by the beginning of their name or a part of it, in any case", async () => {
    await ui.addPet({ name: "Großer Hund", status: "available" });
    const page = await ui.open("/animals");
    const searched = (text: string) =>
      eventually(async () => (await page.getByLabel("Search by name").inputValue()) === text);
    await link(page, "Großer Hund").waitFor();
    await page.getByLabel("Search by name").focus();
    await page.keyboard.insertText("großer h"); // at once: it searches when nothing was typed for a moment
    await page.waitForURL(/[?&]search=gro/);
    await link(page, "Cat 1").waitFor({ state: "detached" });
    await link(page, "Großer Hund").waitFor();
    await page.getByLabel("Search by name").fill("nobody");
    await page.getByText("No animal matches these filters.").waitFor();
    await page.getByRole("button", { name: "Show all animals" }).click();
    await link(page, "Großer Hund").waitFor();
    // The next letter is typed while the address changes.
    await page.evaluate(`{
      const push = history.pushState;
      history.pushState = function (...entry) {
        history.pushState = push;
        push.apply(history, entry);
        const field = document.querySelector("input[type=search]");
        field.value += "n";
        field.dispatchEvent(new Event("input", { bubbles: true }));
      };
    }`);
    await page.getByLabel("Search by name").focus();
    await page.keyboard.insertText("hu");
    await page.waitForURL(/[?&]search=hun/);
    await searched("hun");
    await page.getByText("No animal matches these filters.").waitFor();
    await page.getByLabel("How names are searched").selectOption("Contains it");
    await page.waitForURL(/[?&]name=hun/);
    await link(page, "Großer Hund").waitFor();
    await page.getByRole("button", { name: "Sold", exact: true }).click();
    await page.getByRole("button", { name: "Show all animals" }).click();
    await searched("");
    await ui.leave(page);
  });

  test("shows a change that another tab made first, and lets the reader choose", async () => {
    const id = await ui.addPet({ name: "Otto", status: "available" });
    const [one, two] = [await ui.open("/animals"), await ui.open("/animals")];
    for (const page of [one, two]) {
      await choose(page, "Edit", "Otto");
      await page.getByRole("dialog").getByLabel("Name").waitFor();
    }
    await one.getByRole("dialog").getByLabel("Name").fill("Otto of one");
    await one.getByRole("button", { name: "Save" }).click();
    await link(one, "Otto of one").waitFor();
    const dialog = two.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Otto of two");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Somebody else changed this animal while you were editing it.").waitFor();
    await dialog.getByRole("cell", { name: "Otto of one" }).waitFor();
    await dialog.getByRole("cell", { name: "Otto of two" }).waitFor();
    expect(await accessibilityViolations(two)).toEqual([]);
    await ui.service.call("PATCH", `/pets/${id}`, { key: ui.key, body: { name: "Otto of three" } });
    await dialog.getByRole("button", { name: "Save my change" }).click();
    await dialog.getByRole("cell", { name: "Otto of three" }).waitFor();
    await dialog.getByRole("button", { name: "Save my change" }).click();
    await link(two, "Otto of two").waitFor();
    const { json } = await ui.service.call("GET", `/pets?ids=${id}`, { key: ui.key });
    expect(json[0].name).toBe("Otto of two");
    const usage: { operations: { deprecated?: boolean }[] }[] = (
      await ui.service.call("GET", "/usage", { key: ui.key })
    ).json;
    expect(usage.flatMap(({ operations }) => operations).filter(({ deprecated }) => deprecated)).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  });

  test("shows names literally", async () => {
    for (const name of hostile) await ui.addPet({ name, status: "available" });
    const page = await ui.open("/animals");
    for (const name of hostile) await link(page, name).waitFor();
    for (const name of hostile) expect(await link(page, name).innerText()).toBe(name);
    expect(await page.evaluate("document.querySelectorAll('main img, main b, main script').length")).toBe(0);
    await ui.leave(page);
  });

  test("axe-core reports nothing, wide or narrow", async () => {
    for (const one of [ui, small]) {
      await one.addPet({ name: "Ada" });
      const page = await one.open("/animals");
      await link(page, "Ada").first().waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      if (one === ui) await page.getByLabel("Select Ada").first().check();
      await page.getByRole("button", { name: "Add animal" }).click();
      await page.getByRole("dialog").waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await one.leave(page);
    }
  });

  test.each([
    [500, "internal_error", "Lost."],
    [409, "idempotency_key_in_use", "Lost."],
    [403, undefined, "The response is not the service's."],
  ])("an animal is added once if the response was lost (%d), and again after a change", async (status, code, said) => {
    const page = await ui.open("/animals");
    await page.getByRole("button", { name: "Add animal" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Category").selectOption("Dogs");
    for (const name of ["Once", "Twice"]) {
      await page.route(/\/v1\/pets$/, async (route) => {
        await route.fetch(); // the service does the work, and a proxy returns an error
        const json = { code, message: "Lost." };
        await route.fulfill({ status, json, headers: { "Retry-After": "61" } }); // the client does not wait that long
      });
      await dialog.getByLabel("Name").fill(name);
      await dialog.getByRole("button", { name: "Add animal" }).click();
      await dialog.getByText(said).waitFor();
      await page.unrouteAll({ behavior: "wait" });
    }
    await dialog.getByRole("button", { name: "Add animal" }).click();
    await dialog.waitFor({ state: "detached" });
    const added = (await ui.service.call("GET", "/pets?sort=-id&limit=3", { key: ui.key })).json;
    expect(added.slice(0, 2).map(({ name }: { name: string }) => name)).toEqual(["Twice", "Once"]);
    await ui.leave(page);
  });

  test("a page of a long list says how far it has looked, and that others follow", async () => {
    const { account, key } = await ui.service.newAccountWithKey("enterprise");
    await ui.service.store.run(
      `${numbers(10_001)}
       INSERT INTO pets (shop, id, name, category_id, added_at)
       SELECT ${await ui.service.shop(account.id)}, n, 'Rex ' || n, CASE n WHEN 1 THEN 5 ELSE 1 END, 0 FROM numbers`,
    );
    const page = await ui.open("/animals?category=5&name=rex&in=name", { key });
    await page.getByText(/^Looked through 10,000 of .* animals. Next looks further.$/).waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await link(page, "Rex 1").waitFor();
    await page.close();
  });

  test("a page whose animals are all being deleted says so", async () => {
    await ui.addPet({ name: "Gone" });
    const page = await ui.open("/animals?name=Gone");
    await remove(page, "Gone");
    await page.getByText("All animals of this page are being deleted.").waitFor();
    await ui.leave(page);
  });

  test("fits a telephone, where an animal can be added and sold", async () => {
    for (const name of hostile) await small.addPet({ name });
    await small.addCategory("A category whose name is as long as those that some shops think of");
    const page = await small.open("/animals");
    await page.locator("option", { hasText: "A category whose" }).first().waitFor({ state: "attached" });
    const widths = `[...document.querySelectorAll("[role=search] select")].map(({ clientWidth }) => clientWidth)`;
    expect(new Set(await page.evaluate<number[]>(widths)).size).toBe(1); // the filters share their line
    await page.getByRole("button", { name: "Add animal" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Pip");
    await dialog.getByLabel("Category").selectOption("Cats");
    await dialog.getByRole("button", { name: "Add animal" }).click();
    await link(page, "Pip").waitFor();
    await page.getByRole("navigation", { name: "Most used" }).getByRole("button", { name: "Sell" }).click();
    await dialog.getByLabel("Animal").fill("pip");
    await dialog.getByRole("option", { name: "Pip" }).click();
    await dialog.getByRole("button", { name: "Sell Pip" }).click();
    await page.getByRole("status").getByText("Pip sold").waitFor();
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await page.close();
  });
});
