// The page of the keys, by pointer, by keyboard and on a telephone.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { scopes } from "../../src/contract/caller.ts";
import { accessibilityViolations } from "../harness/accessibility.ts";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole, untilLive } from "../harness/console.ts";
import { eventually } from "../harness/program.ts";
import { TestService } from "../harness/service.ts";

const agentsPage = join(import.meta.dir, "../../docs/agents.md");
const hostile = ["<img src=x onerror=alert(1)>", "שלום עולם", "🐈‍⬛🐕🦜", "x".repeat(100)];

const row = (page: Page, name: string) => page.getByRole("row").filter({ has: page.getByText(name, { exact: true }) });
const dialogOf = (page: Page) => page.getByRole("dialog");
const newKeyOf = (page: Page) => dialogOf(page).getByLabel("The key", { exact: true });

describe.skipIf(!hasBrowser)("the page of the keys", () => {
  let ui: TestConsole;
  let small: TestConsole;
  beforeAll(async () => {
    ui = await TestConsole.start();
    small = await TestConsole.start({ width: 390 });
  });
  afterAll(async () => {
    await ui.stop();
    await small.stop();
  });

  const call = (method: string, path: string, body?: unknown, key = ui.key) =>
    ui.service.call(method, path, { key, ...(body !== undefined && { body }) });
  const newKey = async (name: string, one = ui) =>
    (await one.service.call("POST", "/keys", { key: one.key, body: { name, scopes: ["read"] } })).json;
  const statusWith = async (key: string) => (await call("GET", "/key", undefined, key)).status;

  test("a key gets a limit of its own, and loses it", async () => {
    await newKey("script");
    const page = await ui.open("/keys");
    for (const [limit, shown] of [
      ["30", "attached"],
      ["", "detached"],
    ] as const) {
      await row(page, "script").getByRole("button", { name: "Limit" }).click();
      await dialogOf(page).getByLabel("Limit per minute").fill(limit);
      await dialogOf(page).getByRole("button", { name: "Save" }).click();
      await row(page, "script").getByText("30 a minute").waitFor({ state: shown });
    }
    await ui.leave(page);
  });

  test("a key is created, shown once, copied, and revoked by pointer", async () => {
    const page = await ui.open("/events");
    await page.clock.setFixedTime(ui.service.clock.now()); // that of the service, for the time until the key ends
    await page.getByRole("heading", { name: "Events" }).waitFor();
    await page.keyboard.type("gk");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Create key" }).click();
    await dialogOf(page).getByLabel("Name").fill("Till 1");
    await dialogOf(page).getByLabel("Read").check();
    await dialogOf(page).getByLabel("Expires in").selectOption("30 days");
    await dialogOf(page).getByRole("button", { name: "Create key" }).click();
    const secret = await newKeyOf(page).inputValue();
    await dialogOf(page).getByRole("button", { name: "Copy the key" }).click();
    await eventually(async () => (await page.evaluate<string>("navigator.clipboard.readText()")) === secret);
    await page.keyboard.press("Escape"); // would lose the key
    await page.mouse.click(5, 5);
    await page.evaluate("new Promise((back) => { addEventListener('popstate', () => back()); history.back(); })");
    expect(page.url()).toEndWith("/keys");
    await dialogOf(page).getByRole("button", { name: "I have stored it" }).click();
    await dialogOf(page).waitFor({ state: "detached" });
    expect((await call("GET", "/key", undefined, secret)).json).toMatchObject({ name: "Till 1", scopes: ["read"] });
    expect(await page.content()).not.toContain(secret);

    await row(page, "Till 1").hover();
    await row(page, "Till 1").getByRole("button", { name: "Revoke Till 1" }).click();
    await dialogOf(page).getByRole("button", { name: "Revoke key" }).click();
    await row(page, "Till 1").waitFor({ state: "detached" });
    expect(await statusWith(secret)).toBe(401);
    await page.getByRole("button", { name: "Ended" }).click();
    await row(page, "Till 1").getByText("Revoked").waitFor();
    await page.close();
  });

  test("a key that ends cannot create one that never does, and the form says what to change", async () => {
    const { json } = await call("POST", "/keys", { name: "Short", scopes: ["read", "admin"], expiresIn: 86_400 });
    const page = await ui.open("/keys", { key: json.key });
    await page.getByRole("button", { name: "Create key" }).click();
    await dialogOf(page).getByLabel("Name").fill("Long");
    await dialogOf(page).getByLabel("Read").check();
    await dialogOf(page).getByRole("button", { name: "Create key" }).click();
    await dialogOf(page).getByRole("alert").getByText("Choose a shorter “Expires in”").waitFor();
    await dialogOf(page).getByLabel("Expires in").selectOption("1 hour");
    await dialogOf(page).getByRole("button", { name: "Create key" }).click();
    await newKeyOf(page).waitFor();
    await page.close();
  });

  test("a key is created by keyboard, after the service has said what is wrong with it", async () => {
    const page = await ui.open("/keys");
    await page.getByRole("table").waitFor();
    await page.keyboard.type("n");
    await dialogOf(page).waitFor();
    await page.keyboard.type("Keyboard");
    await page.keyboard.press("Enter");
    await dialogOf(page).getByText("Fill this in.").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    await newKeyOf(page).waitFor();
    for (const _ of ["field", "copy", "stored"]) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await row(page, "Keyboard").getByText("Valid").waitFor();
    await ui.leave(page);
  });

  test.each(["pointer", "keyboard"])("an assistant is connected by %s, with what docs/agents.md has", async (way) => {
    for (const one of [ui, small]) {
      const page = await one.open("/keys");
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("table").waitFor();
      const copy = async (what: string) => {
        const button = dialogOf(page).getByRole("button", { name: `Copy the ${what}` });
        if (way === "pointer") await button.click();
        else await button.press("Enter");
        await button.getByText("Copied").waitFor();
        return page.evaluate<string>("navigator.clipboard.readText()");
      };
      const connect = page.getByRole("button", { name: "Connect an assistant" });
      if (way === "pointer") {
        await connect.click();
        await dialogOf(page).getByRole("button", { name: "Create key" }).click();
      } else {
        await connect.press("Enter");
        await dialogOf(page).getByLabel("Name").press("Enter"); // it has the focus
      }
      const key = await newKeyOf(page).inputValue();
      const { petstore } = JSON.parse(await copy("configuration")).mcpServers;
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      const types = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
      const answer = await fetch(petstore.url, { method: "POST", body, headers: { ...types, ...petstore.headers } });
      expect(await answer.text()).toContain("sell_animal");
      const documented = /^claude mcp add .*$/m.exec(readFileSync(agentsPage, "utf8"))?.[0] ?? "";
      const own = documented.replace("https://api.example.org/mcp", petstore.url).replace("psk_live_…", key);
      expect(await copy("command")).toBe(own);
      const { json } = await one.service.call("GET", "/key", { key });
      expect(json).toMatchObject({ name: "assistant", scopes: ["read", "write"] });
      await dialogOf(page).getByRole("button", { name: "I have stored it" }).press("Enter");
      await dialogOf(page).waitFor({ state: "detached" });
      expect(await page.content()).not.toContain(key);
      await page.close();
    }
  });

  test("another key is rotated, and the old one ends at once", async () => {
    const { key: old } = await newKey("Rotated");
    const page = await ui.open("/keys");
    await row(page, "Rotated").hover();
    await page.getByRole("button", { name: "Rotate Rotated" }).click();
    await dialogOf(page).getByRole("button", { name: "Now" }).click();
    await dialogOf(page).getByRole("button", { name: "Rotate key" }).click();
    const secret = await newKeyOf(page).inputValue();
    expect([await statusWith(old), await statusWith(secret)]).toEqual([401, 200]);
    await ui.leave(page);
  });

  test("who rotates the key of the session goes on with the new one", async () => {
    const body = { name: "Mine", scopes: ["read", "admin"] };
    const own = (await call("POST", "/keys", body)).json;
    ui.service.clock.advance(1_000); // the new key is newer
    const page = await ui.open("/keys", { key: own.key });
    await page.clock.setFixedTime(ui.service.clock.now());
    await row(page, "Mine").hover();
    await page.getByRole("button", { name: "Rotate Mine" }).click();
    await dialogOf(page).getByRole("button", { name: "In 7 days" }).click();
    await dialogOf(page).getByRole("button", { name: "Rotate key" }).click();
    const secret = await newKeyOf(page).inputValue();
    expect(await page.evaluate<string>("Object.values(sessionStorage).join()")).toContain(`"${secret}"`);
    const { hint } = (await call("GET", "/key", undefined, secret)).json;
    expect(await page.getByTitle(`Key ${hint}`).innerText()).toBe("Mine");
    await row(page, "Mine")
      .filter({ hasText: "Old" })
      .getByText(/^ends in/)
      .waitFor();
    expect((await call("DELETE", `/keys/${own.id}`)).status).toBe(204); // the old key ends while the dialog is open
    await dialogOf(page).getByRole("button", { name: "I have stored it" }).click();
    await row(page, "Mine").filter({ hasText: "your key" }).waitFor();
    await page.getByRole("link", { name: "Today" }).click();
    await untilLive(page);
    await page.close();
  });

  test("a key that the others need is not revoked, and the page says why", async () => {
    const { key } = await ui.service.newAccountWithKey("free", undefined, ["read", "admin"]);
    const page = await ui.open("/keys", { key });
    await page.getByRole("table").waitFor();
    await page.getByRole("button", { name: /^Revoke / }).click();
    await dialogOf(page).getByRole("button", { name: "Revoke key" }).click();
    await dialogOf(page).getByRole("alert").getByText("last_admin_key").waitFor();
    await page.close();
  });

  test("strikes of the session's key are shown, and without the scope there is no page", async () => {
    const page = await ui.open("/keys");
    await page.getByText(/^\d+, a ban after [\d,]+ more$/).waitFor();
    await ui.leave(page);
    const reader = await ui.open("/keys", { key: await ui.keyWith("read") });
    await reader.getByText("your key may not see it").waitFor();
    expect(await reader.getByRole("link", { name: "Keys" }).count()).toBe(0);
    await reader.close();
  });

  test("an event in the sandbox that a live key caused is not shown as one of the operator", async () => {
    const service = await TestService.start({ settings: { PETSTORE_ENV: "production" } });
    const { account, key: live } = await service.newAccountWithKey("enterprise", undefined, [...scopes]);
    const { key } = await service.app.keys.issueKey(account.id, "sandbox", scopes, service.clock.now(), "test");
    const sandbox = await TestConsole.forService(service, key);
    const body = { name: "Till", scopes: ["read"], mode: "test" };
    expect((await service.call("POST", "/keys", { key: live, body })).status).toBe(201);
    const page = await sandbox.open("/events");
    const events = page.getByLabel("Events", { exact: true }).getByRole("listitem");
    await events.filter({ hasText: "Till" }).getByText("A live key", { exact: true }).waitFor();
    await events.filter({ hasText: "sandbox" }).getByText("The operator", { exact: true }).waitFor();
    await sandbox.stop();
  });

  test("names are shown literally", async () => {
    for (const name of hostile) await newKey(name);
    const page = await ui.open("/keys");
    for (const name of hostile) {
      await row(page, name).waitFor();
      expect(await page.getByText(name, { exact: true }).innerText()).toBe(name);
    }
    expect(await page.evaluate("document.querySelectorAll('main img').length")).toBe(0);
    await ui.leave(page);
  });

  test("axe-core reports nothing, and all fits a telephone", async () => {
    for (const one of [ui, small]) {
      await newKey("x".repeat(100), one);
      const page = await one.open("/keys");
      await page.getByText("x".repeat(100)).first().waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await page.getByRole("button", { name: "Create key" }).click();
      expect(await accessibilityViolations(page)).toEqual([]);
      await dialogOf(page).getByLabel("Name").fill("Of axe-core");
      await dialogOf(page).getByLabel("Read").check();
      await dialogOf(page).getByRole("button", { name: "Create key" }).click();
      await newKeyOf(page).waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      await dialogOf(page).getByRole("button", { name: "I have stored it" }).click();
      await page.getByRole("button", { name: "Connect an assistant" }).click();
      expect(await accessibilityViolations(page)).toEqual([]);
      await dialogOf(page).getByRole("button", { name: "Create key" }).click();
      await newKeyOf(page).waitFor();
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await one.leave(page);
    }
  });
});
