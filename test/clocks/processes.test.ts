// The wall clock is set between the end of one process and the start of the next.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "../harness/client.ts";
import { environment, newKey } from "../harness/keys.ts";
import { eventually, newDataDir, Program } from "../harness/program.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The rest of a ban of 60 s, however slow the machine is. */
const someRest = { from: 1, to: 60 };
/** Milliseconds by which two responses may differ about one end: they round to seconds, and take some time. */
const ROUNDING = 5_000;

/** The service with a wall clock that is wrong by `error` milliseconds. With `only`, it does not know the time since boot. */
const serve = (error: number, ...only: "wall clock only"[]) => [
  process.execPath,
  join(import.meta.dir, "controls/serve.ts"),
  String(error),
  ...only,
];

interface Asked {
  readonly text: string;
  /** Seconds. */
  readonly retryAfter: number;
  /** When the response says that the ban ends, in milliseconds of this process's monotonic clock. */
  readonly endsAt: number;
  /** What the response's reset is later than its `Retry-After` from now by the service's clock, in seconds. */
  readonly disagreement: number;
}

async function ask(base: string, key: string, error: number): Promise<Asked> {
  const { headers, text = "" } = await new Client(base, key).call("GET", "/pets?limit=1");
  const retryAfter = Number(headers.get("retry-after"));
  const endsAt = performance.now() + retryAfter * 1000;
  const now = Math.floor((Date.now() + error) / 1000);
  return { text, retryAfter, endsAt, disagreement: Number(headers.get("x-ratelimit-reset")) - retryAfter - now };
}

/**
 * Bans a key, kills the service, and starts it again with a wall clock that is wrong by `error`. Returns the responses to
 * the key before and after that.
 */
async function overRestart(error: number, ...only: "wall clock only"[]): Promise<[before: Asked, after: Asked]> {
  const dataDir = newDataDir();
  const first = await Program.start(dataDir, environment, serve(0, ...only));
  const key = await newKey(dataDir, { perMinute: 3, perDay: 1_000 });
  const before = await eventually(
    () => ask(first.base, key, 0),
    ({ text }) => text.includes('"key_banned"'),
  );
  await first.end("SIGKILL");
  const second = await Program.start(dataDir, environment, serve(error, ...only));
  const after = await ask(second.base, key, error);
  await second.end("SIGKILL");
  return [before, after];
}

describe("a ban survives a kill and ends at its announced time, although the wall clock was set", () => {
  test.each([
    ["not at all", 0],
    ["back by an hour", -HOUR],
    ["back by a day", -DAY],
    ["forward by an hour", HOUR],
    ["forward by a day", DAY],
    ["to 2030-12-05", Date.UTC(2030, 11, 5) - Date.now()],
  ])("%s while the service was down", async (_, error) => {
    const [before, { text, retryAfter, endsAt, disagreement }] = await overRestart(error);
    expect(text).toContain('"key_banned"');
    expect(retryAfter).toBeGreaterThanOrEqual(someRest.from);
    expect(retryAfter).toBeLessThanOrEqual(someRest.to);
    expect(Math.abs(endsAt - before.endsAt)).toBeLessThanOrEqual(ROUNDING);
    expect([-1, 0, 1]).toContain(disagreement);
  });

  test("control: does not with the wall clock only", async () => {
    const [, { text }] = await overRestart(DAY, "wall clock only");
    expect(text).not.toContain('"key_banned"');
  });
});
