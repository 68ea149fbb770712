// Times in a shop are times of its clock. The clock of a sandbox may be ahead of real time.
import { describe, expect, test } from "bun:test";
import { hasBrowser } from "../harness/browser.ts";
import { TestConsole, untilLive } from "../harness/console.ts";

describe.skipIf(!hasBrowser)("the console", () => {
  test("counts down by the clock of the sandbox", async () => {
    const ui = await TestConsole.start();
    const call = (method: string, path: string, body?: unknown) => ui.service.call(method, path, { key: ui.key, body });
    const id = await ui.addPet({ name: "Otto", status: "available" });
    expect((await call("POST", "/store/orders", { petId: id, reference: "Till 5" })).status).toBe(201);
    const page = await ui.open();
    await untilLive(page); // now it is signed in, and stays so
    await page.clock.setFixedTime(ui.service.clock.now());
    await page.reload();
    await untilLive(page);
    await page.keyboard.type("go");
    await page.getByRole("cell", { name: "15:00 left", exact: true }).waitFor();
    expect((await call("POST", "/sandbox/fast-forward", { seconds: 600 })).status).toBe(200);
    await ui.addPet({ name: "Ida" }); // its event tells that the clock was advanced
    await page.getByRole("cell", { name: "5:00 left", exact: true }).waitFor();
    expect((await call("POST", "/sandbox/fast-forward", { seconds: 60 })).status).toBe(200);
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await page.getByRole("cell", { name: "4:00 left", exact: true }).waitFor();
    await page.close();
    await ui.stop();
  });
});
