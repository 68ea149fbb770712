// A day in a shop of 10,000 animals, by pointer and keyboard, with the clicks that each task may take at most.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole, untilLive } from "../harness/console.ts";
import { ManualClock } from "../harness/manual-clock.ts";
import { TestService } from "../harness/service.ts";

/** A sandbox may hold 10,000 animals, and some are added during the day. */
const [ANIMALS, IN_ONE, DAY] = [9_990, 500, 86_400_000];
/** Wednesday at noon in Berlin. */
const WEDNESDAY = Date.UTC(2026, 10, 25, 11);
const eur = (amount: number) => ({ amount, currency: "EUR" });
const names = ["Bella", "Max", "Luna", "Charlie", "Lucy", "Cooper", "Daisy", "Milo", "Zoe", "Rocky"];
const animals = Array.from({ length: ANIMALS }, (_, index) => ({
  name: { 812: "Biscuit", 4711: "Whiskers", 7007: "Frida" }[index] ?? (names[index % names.length] as string),
  categoryId: (index % 6) + 1,
  status: "available",
  reference: `CHIP-${100_000 + index}`,
  price: eur(9_250),
}));
/** As a German Excel writes it: with an extra column, and three faulty rows. */
const excel = [
  "Name;Category;Price;Status;Farbe;;",
  "Bärbel;Dogs;1.290,50;available;braun;;",
  "Otto;dogs;95;Available;;;",
  ";Dogs;10;;;;",
  "Max;Dogs;teuer;;;;",
  "Kim;Dogs;10;weg;;;",
].join("\r\n");

describe.skipIf(!hasBrowser)("a day of a shop", () => {
  let ui: TestConsole;
  let page: Page;
  let clicks = 0;
  const call = async (method: string, path: string, body?: unknown) =>
    (await ui.service.call(method, path, { key: ui.key, body })).json;
  const dialog = () => page.getByRole("dialog");
  const button = (name: string | RegExp, within: Page | Locator = page) =>
    within.getByRole("button", { name, exact: true });
  const option = (name: string | RegExp) => dialog().getByRole("option", { name });
  const link = (name: string) => page.getByRole("navigation").first().getByRole("link", { name });
  const says = (text: string) => page.locator(".toasts").getByText(text, { exact: true }).waitFor();
  const newest = async (name: string) => {
    const [pet] = await call("GET", `/pets?search=${name}&limit=1`);
    return (await call("GET", `/store/orders?petId=${pet.id}&sort=-id&limit=1`))[0];
  };
  async function click(what: Locator): Promise<void> {
    clicks++;
    await what.click();
  }
  /** A task of the day, and the clicks that it may take at most. */
  const task = (name: string, most: number, work: () => Promise<void>) =>
    test(`${name}: ${most} clicks`, async () => {
      clicks = 0;
      await work();
      expect(clicks).toBeLessThanOrEqual(most);
    });

  beforeAll(async () => {
    const clock = new ManualClock(WEDNESDAY - 2 * DAY);
    const service = await TestService.start({ clock });
    ui = await TestConsole.forService(
      service,
      await service.newKey("enterprise", undefined, ["read", "write", "admin"]),
    );
    await call("PATCH", "/shop", { currency: "EUR", timeZone: "Europe/Berlin" });
    for (const name of ["Dogs", "Cats", "Birds", "Fish", "Rodents", "Mice"])
      await call("POST", "/categories", { name });
    for (let first = 0; first < ANIMALS; first += IN_ONE)
      await call("POST", "/pets/import", { animals: animals.slice(first, first + IN_ONE) });
    for (const [petId, seller] of [
      [1, "Ann"],
      [2, "Ann"],
      [3, "Ben"],
    ] as const) {
      const sale = { petId, seller, confirm: true, reference: `Receipt ${710 + petId}`, price: eur(5_000) };
      const { id } = await call("POST", "/store/orders", sale);
      if (petId === 2) await call("POST", `/store/orders/${id}/return`);
    }
    clock.advance(2 * DAY);
    page = await ui.browser.open("about:blank");
    await page.clock.setFixedTime(clock.now());
    await page.goto(`${ui.origin}/console#key=${ui.key}`);
    await untilLive(page);
  });
  afterAll(() => ui.stop());

  task("an animal is found by its name and sold for a price", 3, async () => {
    await click(button("Sell"));
    await page.keyboard.type("whisk");
    await click(option(/^Whiskers/));
    await dialog().getByLabel("Price").and(page.locator(":focus")).waitFor();
    await page.keyboard.type("129,50"); // instead of the price of the animal
    await click(button(/^Sell Whiskers/, dialog()));
    await says("Whiskers sold for 129.50 EUR");
    expect((await newest("Whiskers")).price).toEqual(eur(12_950));
  });

  task("a scanned one is sold by S, the scan and Enter", 0, async () => {
    await page.keyboard.press("s");
    await page.keyboard.type("CHIP-100812\n");
    await dialog().getByLabel("Price").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await says("Biscuit sold for 92.50 EUR");
  });

  task("that is undone", 1, async () => {
    await click(page.locator(".toast", { hasText: "Biscuit" }).getByRole("button", { name: "Undo" }));
    await says("Biscuit returned, and available again");
    expect(await newest("Biscuit")).toMatchObject({ status: "returned" });
  });

  task("the returned animal is sold again by S, its name, Enter and Enter", 0, async () => {
    await page.keyboard.press("s");
    await page.keyboard.type("biscuit");
    await page.keyboard.press("Enter");
    await dialog().getByLabel("Price").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await dialog().waitFor({ state: "detached" });
    expect(await newest("Biscuit")).toMatchObject({ status: "confirmed", price: eur(9_250) });
  });

  task("an animal is reserved until Saturday for a customer", 4, async () => {
    await click(button("Reserve"));
    await page.keyboard.type("frida");
    await click(option(/^Frida/));
    await dialog().getByLabel("For whom").and(page.locator(":focus")).waitFor();
    await page.keyboard.type("Mrs Brown");
    await click(button("Sat", dialog()));
    await click(button(/^Reserve Frida/, dialog()));
    await says("Frida reserved for Mrs Brown until Saturday 28 November");
    await page.getByText("next ends in 3 days").waitFor();
    expect(await newest("Frida")).toMatchObject({ reference: "Mrs Brown", expiresAt: "2026-11-28T23:00:00.000Z" });
  });

  task("and sold on Saturday", 2, async () => {
    ui.service.clock.advance(3 * DAY);
    await page.clock.setFixedTime(ui.service.clock.now());
    await page.getByText("Saturday 28 November", { exact: true }).waitFor();
    await click(button("Sell Frida"));
    await dialog().getByText("Reserved · Mrs Brown").waitFor();
    await click(button(/^Sell Frida/, dialog()));
    await says("Frida sold for 92.50 EUR");
  });

  task("three animals of a new category are added", 5, async () => {
    await click(button("Add animal"));
    await page.keyboard.type("Shelly");
    clicks++;
    await dialog().getByLabel("Category").selectOption("New category…");
    await page.keyboard.type("Tortoises");
    await click(button("Save and add another", dialog()));
    await dialog().getByText("Shelly added").waitFor();
    await page.keyboard.type("Sheldon");
    await click(button("Save and add another", dialog()));
    await dialog().getByText("Sheldon, Shelly added").waitFor();
    await page.keyboard.type("Speedy");
    await click(button("Add animal", dialog()));
    await dialog().waitFor({ state: "detached" });
    const added = await call("GET", "/pets?categoryId=7&sort=-id");
    expect(added.map(({ name }: { name: string }) => name)).toEqual(["Speedy", "Sheldon", "Shelly"]);
  });

  task("the file of a German Excel is imported and taken back", 6, async () => {
    await click(link("Animals"));
    await click(button("Import"));
    clicks++;
    await page
      .getByLabel("CSV file")
      .and(page.locator(":enabled"))
      .setInputFiles({ name: "tiere.csv", mimeType: "text/csv", buffer: Buffer.from(excel, "latin1") });
    await click(button("Skip 3 faulty rows, import the rest", dialog()));
    await dialog().getByText("2 animals added from tiere.csv").waitFor();
    expect(await call("GET", "/pets?search=bärbel")).toMatchObject([{ price: eur(129_050) }]);
    await click(button("Undo the import", dialog()));
    await click(button("Delete 2 animals", dialog()));
    await says("The import is undone");
    expect(await call("GET", "/pets?search=bärbel")).toEqual([]);
  });

  task("the sales of the week are told by seller, net of returns", 1, async () => {
    await click(link("Sales"));
    const shares = page.getByRole("region", { name: "Shares" }).getByRole("listitem");
    await shares.filter({ hasText: "Ann" }).getByText("2 sold, 1 returned · 50.00 EUR").waitFor();
    await shares.filter({ hasText: "Ben" }).getByText("1 sold · 50.00 EUR").waitFor();
    await shares.filter({ hasText: "test" }).getByText("4 sold, 1 returned · 314.50 EUR").waitFor();
    await page.getByRole("heading", { name: "7 sold, 2 returned 414.50 EUR" }).waitFor();
  });

  task("an order is found by the beginning of its reference", 2, async () => {
    await click(button("Search"));
    await page.keyboard.type("receipt 713");
    await click(option(/^Receipt 713/));
    await page.getByRole("heading", { name: "Receipt 713" }).waitFor();
    await page.locator(".facts").getByText("Ben").waitFor();
  });

  task("two categories are merged, and past sales keep the name", 4, async () => {
    await click(link("Categories"));
    await click(button("Merge into… Birds"));
    await dialog().getByText("This cannot be undone").waitFor();
    clicks++;
    await dialog().getByLabel("Merge into").selectOption("Fish");
    await dialog().locator("button.bad").waitFor(); // as for all that cannot be undone
    await click(button(/^Merge 1,66\d animals/, dialog()));
    await says("Birds merged into Fish");
    await page.goBack();
    await page.locator(".facts").getByText("Birds").waitFor(); // what it was when it was sold
  });
});
