// One shop floods the service, behind the shipped nginx.
import { expect, test } from "bun:test";
import { hasNginx, Proxy } from "../deployment/proxy.ts";
import { freePort } from "../harness/free-port.ts";
import { isLongRun } from "../harness/test-length.ts";
import { LoadedService } from "./loaded-service.ts";
import { runLoad } from "./open-loop.ts";

/** What nginx passes on of a key: so many requests at once, and so many a second. */
const [AT_ONCE, PER_SECOND] = [50, 500];
/** Connections of the shop that sends too much, all of them busy all the time. */
const CONNECTIONS = 1_000;
const SECONDS = 3;
/** How much longer the other shop's requests may take. Short runs share the machine, so that their times say little. */
const FACTOR = 3;

test.skipIf(!hasNginx)(
  "while one shop sends too much, its requests wait in nginx, and others take at most three times as long",
  async () => {
    await using service = await LoadedService.start();
    const port = freePort();
    const proxy = await Proxy.nginx(port, [service.port, service.port]);
    const load = (key: string, order: { connections: number; rate?: number; seconds: number }) =>
      runLoad({ port, request: service.request("GET", "/pets?limit=1", undefined, key), ...order });
    const other = await service.otherKey();
    const calm = () => load(other, { connections: 8, rate: 200, seconds: SECONDS - 1 });
    await calm();
    const alone = await calm();
    const flood = load(service.key, { connections: CONNECTIONS, seconds: SECONDS });
    const during = await calm();
    const { statuses, lost, elapsed } = await flood;
    await proxy.stop();
    console.log(`p99: ${alone.p99.toFixed(1)} ms alone, ${during.p99.toFixed(1)} ms during the flood`);
    expect([Object.keys(statuses), lost, Object.keys(during.statuses), during.lost]).toEqual([["200"], 0, ["200"], 0]);
    expect(statuses["200"]).toBeLessThan(AT_ONCE + PER_SECOND * (elapsed + 1));
    if (isLongRun) expect(during.p99).toBeLessThan(FACTOR * alone.p99);
  },
);
