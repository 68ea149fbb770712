// More requests than the service can answer, from a separate process (`open-loop.ts`).
import { describe, expect, test } from "bun:test";
import { DocumentCheck } from "../harness/document-check.ts";
import { eventually } from "../harness/program.ts";
import { UNLIMITED } from "../harness/unlimited.ts";
import { LoadedService } from "./loaded-service.ts";

/** More connections than requests of one shop may wait, all of them busy all the time. */
const CONNECTIONS = 1_500;
/** Refusals after which the load may end. */
const ENOUGH = 100;
/** Seconds after which it ends in any case. */
const AT_MOST = 50;

const animal = JSON.stringify({ name: "Rex", categoryId: 1 });

/** What is sent back to a client, as bytes. */
function parse(refusal: string) {
  const [head = "", text = ""] = refusal.split("\r\n\r\n");
  const headers = new Headers(
    head
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(": ") as [string, string]),
  );
  return { status: Number(head.slice(9, 12)), headers, text };
}

describe("too many requests", () => {
  test("are rejected in part, with Retry-After and without being counted; then all is normal again", async () => {
    await using service = await LoadedService.start();
    const request = service.request("POST", "/pets", animal);
    const load = service.load({ request, connections: CONNECTIONS, seconds: AT_MOST, enough: ENOUGH });
    expect([...(await service.watchDuring(load))]).toEqual([]); // those who watch are never refused
    const { statuses, lost, refusals } = await load;
    const { 201: added = 0, 503: refused = 0, ...others } = statuses;
    expect([others, lost]).toEqual([{}, 0]);
    expect(refused).toBeGreaterThanOrEqual(ENOUGH);
    expect(await service.metric("petstore_requests_shed_total")).toBe(refused);

    const document = DocumentCheck.of(await (await fetch(new URL("/openapi.json", service.program.base))).json());
    for (const refusal of refusals.map(parse)) {
      document.check({ method: "POST", path: "/pets", ...refusal });
      expect(JSON.parse(refusal.text)).toMatchObject({ code: "overloaded", status: 503 });
      expect(refusal.headers.get("retry-after")).toBe("1");
      expect(refusal.headers.get("connection")).toBeNull();
      expect(refusal.headers.get("x-ratelimit-remaining")).toBe("60"); // the address's, of which nothing was used
    }

    // What was acknowledged is there, what was refused was not done, and only the first was counted.
    expect(service.animals()).toBe(added);
    const normal = await eventually(
      () => service.call("/pets?limit=1"),
      ({ status }) => status === 200,
    );
    const calls = Number(normal.headers.get("x-ratelimit-remaining"));
    expect(calls).toBe(UNLIMITED - added - 1);
    for (let count = 0; count < 100; count++) expect((await service.call("/pets?limit=1")).status).toBe(200);
  });

  test("control: are all accepted if any number may wait", async () => {
    await using service = await LoadedService.start({ maxWaiting: UNLIMITED });
    const request = service.request("POST", "/pets", animal);
    const { statuses } = await service.load({ request, connections: CONNECTIONS, seconds: 2, enough: ENOUGH });
    expect(Object.keys(statuses)).toEqual(["201"]);
  });
});
