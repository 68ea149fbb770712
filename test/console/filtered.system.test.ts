// Lists with a filter: what begins to match it elsewhere is shown, and a filter is never invisible.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole } from "../harness/console.ts";

describe.skipIf(!hasBrowser)("a filtered list of animals", () => {
  let ui: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    for (const name of ["Dogs", "Cats"]) await ui.addCategory(name);
  });
  afterAll(() => ui.stop());

  const change = (id: number, body: object) => ui.service.call("PATCH", `/pets/${id}`, { key: ui.key, body });

  test.each([
    ["status=available", { status: "available" }],
    ["category=2", { categoryId: 2 }],
    ["name=Tilda", { name: "Tilda" }],
  ])("by %s shows an animal that begins to match, until it no longer does", async (filter, matching) => {
    await ui.addPet({ name: "Other", ...matching });
    const before = { name: "Tilly", categoryId: 1, status: "sold" };
    const id = await ui.addPet(before);
    const page = await ui.openLive(`/animals?${filter}`);
    await page.getByRole("row").nth(1).getByRole("link").first().waitFor();
    const found = page.locator(`table a[href$="/animals/${id}"]`);
    expect(await found.count()).toBe(0);
    await change(id, matching);
    await found.waitFor();
    await change(id, before);
    await found.waitFor({ state: "detached" });
    await ui.leave(page);
  });

  test("is not read again for changed metadata, which no filter is about", async () => {
    const id = await ui.addPet({ name: "Meta", status: "available" });
    const page = await ui.openLive("/animals?status=available");
    await page.getByRole("link", { name: "Meta" }).waitFor();
    const reads: string[] = [];
    page.on("request", (request) => reads.push(request.url()));
    await change(id, { metadata: { shelf: "A" } });
    await page.waitForResponse(/\/v1\/shop$/); // the figures are read again after each event, with the lists
    expect(reads.filter((address) => address.includes("/v1/pets"))).toEqual([]);
    await page.close();
  });

  test.each([
    ["/animals?category=999", "Category"],
    ["/requests?key=key_999", "Key"],
    ["/usage?operation=999", "Operation"],
  ])("at %s shows its filter, which is not among the choices", async (path, label) => {
    const page = await ui.open(path);
    await page
      .getByLabel(label, { exact: true })
      .locator("option:checked", { hasText: "999" })
      .waitFor({ state: "attached" });
    await page.getByLabel(label, { exact: true }).selectOption({ index: 0 });
    await page.waitForURL(/\/(animals|requests|usage)$/);
    await ui.leave(page);
  });

  test("of suggestions for a sale has what is available now", async () => {
    const sold = await ui.addPet({ name: "One", status: "sold" });
    const available = await ui.addPet({ name: "Two", status: "available" });
    const page = await ui.openLive("/orders");
    await page.getByRole("button", { name: "Sell", exact: true }).click();
    const suggested = (name: string, state: "attached" | "detached") =>
      page.getByRole("option", { name }).waitFor({ state });
    await suggested("Two", "attached");
    await change(sold, { status: "available" });
    await suggested("One", "attached");
    await change(available, { status: "sold" });
    await suggested("Two", "detached");
    await ui.leave(page);
  });
});
