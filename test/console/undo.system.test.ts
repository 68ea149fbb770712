// What can be undone: by keyboard, in time, and not by the next user.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { MESSAGE_TIME } from "../../console/src/ui/message-time.ts";
import { hasBrowser } from "../harness/browser.ts";
import { correctStatus, remove, TestConsole } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";

const link = (page: Page, name: string) => page.getByRole("link", { name, exact: true });
const undo = (page: Page) => page.getByRole("button", { name: /^Undo/ });

describe.skipIf(!hasBrowser)("an undo in the console", () => {
  let ui: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    await ui.addCategory("Dogs");
  });
  afterAll(() => ui.stop());

  const exists = async (id: number) =>
    (await ui.service.call("GET", `/pets?ids=${id}`, { key: ui.key })).json.length === 1;
  const isGone = (id: number) => eventually(async () => !(await exists(id)));

  test("is not offered to the next user, and what was deleted is deleted when the user signs out", async () => {
    const id = await ui.addPet({ name: "Mine" });
    await ui.addPet({ name: "Kept", status: "available" });
    const other = await ui.service.newKey("pro");
    const call = (path: string, body: object) => ui.service.call("POST", path, { key: other, body });
    await call("/categories", { name: "Cats" });
    for (let number = 1; number <= id; number++) await call("/pets", { name: `Theirs ${number}`, categoryId: 1 });

    const page = await ui.open("/animals");
    await link(page, "Mine").waitFor();
    await correctStatus(page, "Kept", "Sold");
    await page.getByRole("status").getByText("Kept sold").waitFor();
    await remove(page, "Mine");
    await link(page, "Mine").waitFor({ state: "detached" });
    expect(await undo(page).count()).toBe(2);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.getByText(/Mine|Kept/).count()).toBe(0);
    await isGone(id);
    await page.getByLabel("API key").fill(other);
    await page.keyboard.press("Enter");
    await link(page, `Theirs ${id}`).waitFor(); // it has the same id in another shop
    expect(await page.getByText(/Mine|Kept/).count()).toBe(0);
    await page.close();
  });

  test("a response to the user before does not reach the next one", async () => {
    const id = await ui.addPet({ name: "Late", status: "available" });
    const body = { name: "till", scopes: ["read", "write"] };
    const { json: till } = await ui.service.call("POST", "/keys", { key: ui.key, body });
    const page = await ui.open("/animals", { key: till.key });
    await link(page, "Late").waitFor();
    const requested = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route(new RegExp(`/v1/pets/${id}$`), async (route) => {
      requested.resolve();
      await answered.promise;
      await route.continue();
    });
    await correctStatus(page, "Late", "Sold");
    await requested.promise;
    await page.keyboard.press("Escape"); // closes the dialog; the request goes on
    const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith(`/v1/pets/${id}`));
    await page.getByRole("button", { name: "Sign out" }).click();
    await ended;
    await ui.service.call("DELETE", `/keys/${till.id}`, { key: ui.key });
    await page.getByLabel("API key").fill(ui.key);
    await page.keyboard.press("Enter");
    await link(page, "Late").waitFor();
    answered.resolve();
    await page.keyboard.type("go");
    await page.getByRole("heading", { name: "Orders" }).waitFor();
    expect(await page.getByRole("button", { name: "Dismiss" }).count()).toBe(0);
    await page.close();
  });

  test("the same user can sign in again although a response to an earlier request is missing", async () => {
    const page = await ui.open("/animals");
    await link(page, "Late").waitFor();
    for (const path of [/\/v1\/pets\?/, /\/v1\/key$/]) await page.route(path, () => {}); // never a response
    await page.getByRole("button", { name: "Sold", exact: true }).click();
    await page.keyboard.type("gu"); // reads the key
    await page.getByRole("heading", { name: "Limits" }).waitFor();
    await page.keyboard.type("ga");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.getByLabel("API key").fill(ui.key);
    await page.keyboard.press("Enter");
    await link(page, "Late").waitFor();
    await page.close();
  });

  test("ends when the page is left, also if it is shown again, and asks first if the limits do not admit it", async () => {
    const key = await ui.service.newKey("pro");
    const call = (path: string, body: object) => ui.service.call("POST", path, { key, body });
    await call("/categories", { name: "Cats" });
    for (const name of ["One", "Two", "Three"]) await call("/pets", { name, categoryId: 1, status: "sold" });
    const page = await ui.open("/animals", { key });
    await link(page, "Three").waitFor();
    await page.route(/\/v1\/(pets\?.*status=sold|store\/orders\?)/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), "x-ratelimit-remaining": "2" } });
    });
    await page.getByRole("button", { name: "Sold", exact: true }).click();
    await page.waitForURL(/status=sold/);
    await page.getByText("2 of", { exact: false }).first().waitFor();
    const asks = () => page.evaluate<boolean>('!dispatchEvent(new Event("beforeunload", { cancelable: true }))');
    await page.getByLabel("Select One").check();
    await page.getByLabel("Select Two").check();
    const removeTicked = async () => {
      await page.getByRole("button", { name: "Delete…", exact: true }).click();
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /^Delete \d/ })
        .click();
    };
    await removeTicked();
    expect(await asks()).toBe(false);
    await undo(page).click();
    await page.getByLabel("Select all on this page").check();
    await removeTicked();
    expect(await asks()).toBe(true);
    await page.evaluate('dispatchEvent(new Event("pagehide"))'); // it goes into the back/forward cache, and comes back
    await eventually(async () => (await ui.service.call("GET", "/pets", { key })).json.length === 0);
    expect(await asks()).toBe(false);
    await page.getByRole("button", { name: "Dismiss" }).click(); // ends the undo
    await page
      .getByText("The shop has no animals yet.")
      .or(page.getByText("No animal matches these filters."))
      .waitFor();
    expect(await page.getByText(/No animal .* has /).count()).toBe(0);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });

  test("is possible by keyboard", async () => {
    const id = await ui.addPet({ name: "Rex" });
    const page = await ui.open("/animals");
    await link(page, "Rex").waitFor();
    await page.getByRole("button", { name: "More for Rex" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Edit Rex" }).waitFor(); // it has the focus
    for (const _ of ["Correct status…", "Delete…"]) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Delete Rex?" }).waitFor();
    for (const _ of ["cancel", "delete"]) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await link(page, "Rex").waitFor({ state: "detached" });
    await page.keyboard.type("u");
    await link(page, "Rex").waitFor();
    expect(await undo(page).count()).toBe(0);
    await page.keyboard.type("?");
    await page.getByRole("dialog").getByText("Go to Orders").waitFor();
    expect(await page.getByRole("dialog").getByText("Undo").count()).toBe(0); // there is nothing to undo
    await page.keyboard.press("Escape");
    expect(await exists(id)).toBe(true);
    await ui.leave(page);
  });

  test("stays possible while its message has the focus, or is under the pointer", async () => {
    const id = await ui.addPet({ name: "Slow" });
    const page = await ui.open();
    await page.clock.install();
    await page.goto(`${ui.origin}/console/animals`);
    await link(page, "Slow").waitFor();
    await remove(page, "Slow");
    await undo(page).focus();
    await page.clock.fastForward(MESSAGE_TIME * 2);
    await page.getByRole("status").getByText("Slow deleted").waitFor();
    await page.keyboard.press("Enter");
    await link(page, "Slow").waitFor();
    expect(await exists(id)).toBe(true);
    await remove(page, "Slow");
    await page.getByText("Slow deleted").hover(); // as while it is read
    await page.clock.fastForward(MESSAGE_TIME * 2);
    await undo(page).waitFor();
    await page.mouse.move(0, 0);
    await page.clock.fastForward(MESSAGE_TIME * 2);
    await undo(page).waitFor({ state: "detached" });
    await isGone(id);
    await remove(page, "Kept");
    await page.getByRole("button", { name: "Dismiss" }).click(); // ends it, too
    await eventually(async () => (await ui.service.call("GET", "/pets?name=Kept", { key: ui.key })).json.length === 0);
    await page.close();
  });
});
