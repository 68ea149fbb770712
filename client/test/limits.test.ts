// The client does not get its key banned, even if it makes far more calls than a minute allows. It shares a clock with
// the service.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { TestService } from "../../test/harness/service.ts";
import { Petstore } from "../src/index.ts";
import { DrivenClock } from "./driven-clock.ts";
import type { Denial, Report, Task } from "./limited-process.ts";

const quota = { perMinute: 60, perDay: 100_000 };
const HOUR = 3_600_000;

test("a thousand concurrent calls at 60 a minute all succeed without a strike", async () => {
  const service = await TestService.start();
  try {
    const key = await service.newKey("enterprise", quota);
    const clock = new DrivenClock(service.clock);
    const statuses: number[] = [];
    const onResponse = ({ status }: Response) => statuses.push(status);
    const options = { key, baseUrl: service.app.base, clock, fetch: clock.fetch, timeout: HOUR, onResponse };
    const petstore = new Petstore(options);
    const calls = Array.from({ length: 1_000 }, () => petstore.listPets().page());
    await clock.drive(Promise.all(calls));
    expect(statuses).toEqual(Array.from({ length: 1_000 }, () => 200));
    const { json } = await service.call("GET", "/key", { key });
    expect([json.strikes.count, json.ban]).toEqual([0, undefined]);
  } finally {
    await service.stop();
  }
});

test("calls in turn, with the usual timeout, are never limited, also where the rounded reset is over a minute away", async () => {
  const service = await TestService.start();
  try {
    const key = await service.newKey("enterprise", quota);
    service.clock.advance(300); // the minute ends 60.7 s after its rounded-down beginning
    const clock = new DrivenClock(service.clock);
    const statuses: number[] = [];
    const onResponse = ({ status }: Response) => statuses.push(status);
    const petstore = new Petstore({
      key,
      baseUrl: service.app.base,
      clock,
      fetch: clock.fetch,
      onResponse,
      retries: 0,
    });
    for (let call = 0; call < 130; call++) await clock.drive(petstore.listPets({ limit: 1 }).page());
    expect(statuses).toEqual(Array.from({ length: 130 }, () => 200));
  } finally {
    await service.stop();
  }
});

test("a call that may not wait for a limit that is used up is refused, with the time, and not sent", async () => {
  const service = await TestService.start();
  try {
    const day = { perMinute: 600, perDay: 20 };
    const key = await service.newKey("enterprise", day);
    for (const offset of [0, -7_200_000]) {
      // Also where the clock of the client is two hours slow, if the service tells its time.
      service.clock.advance(24 * HOUR);
      const clock = new DrivenClock(service.clock);
      const own = { now: () => clock.now() + offset, after: clock.after.bind(clock) };
      let sent = 0;
      const fetch = (...request: Parameters<typeof clock.fetch>) => (sent++, clock.fetch(...request));
      const petstore = new Petstore({ key, baseUrl: service.app.base, clock: own, fetch });
      for (let call = 0; call < day.perDay; call++) await clock.drive(petstore.listPets().page());
      const error = await clock.drive(petstore.listPets().page()).catch((reason: unknown) => reason);
      const retryAfter = (24 * HOUR - (clock.now() % (24 * HOUR))) / 1000; // until midnight
      expect(error).toMatchObject({
        name: "RateLimitError",
        code: "rate_limit_exceeded",
        operation: "listPets",
        retryAfter,
      });
      expect(String(error)).toMatch(/The limit is used up until \d{4}-\d\d-\d\dT00:00:00/);
      expect(sent).toBe(day.perDay);
      await clock.drive(petstore.listPets({}, { timeout: 25 * HOUR }).page());
    }
  } finally {
    await service.stop();
  }
});

/** Runs processes in step: once nothing can happen in any of them before time passes, the time of the next timer comes. */
async function runInStep(service: TestService, tasks: readonly Task[]): Promise<Report[]> {
  const reports: (Report | undefined)[] = tasks.map(() => undefined);
  let wake: (() => void) | undefined;
  const children = tasks.map((task, index) =>
    Bun.spawn([process.execPath, join(import.meta.dir, "limited-process.ts"), JSON.stringify(task)], {
      stdio: ["ignore", "inherit", "inherit"],
      ipc(report: Report) {
        reports[index] = report;
        wake?.();
      },
    }),
  );
  try {
    for (;;) {
      while (reports.includes(undefined)) await new Promise<void>((resolve) => (wake = resolve));
      const known = reports as Report[];
      const due = known.flatMap(({ next }) => next ?? []);
      if (due.length === 0) return known;
      service.clock.advance(Math.max(0, Math.min(...due) - service.clock.now()));
      reports.fill(undefined);
      for (const child of children) child.send(service.clock.now());
    }
  } finally {
    for (const child of children) child.kill();
  }
}

/** Groups denials into periods. A period begins with a denial and lasts until its `Retry-After` has passed. */
function periodsOf<D extends Denial>(denials: readonly D[]): D[][] {
  const periods: D[][] = [];
  for (const denial of denials.toSorted((one, other) => one.at - other.at)) {
    const current = periods.at(-1);
    if (current?.[0] && denial.at < current[0].until) current.push(denial);
    else periods.push([denial]);
  }
  return periods;
}

test("four processes sharing a key succeed; each gets at most one strike per rate-limited period", async () => {
  const service = await TestService.start();
  try {
    const key = await service.newKey("enterprise", quota);
    const now = service.clock.now();
    const task = (delay: number): Task => ({ key, baseUrl: service.app.base, calls: 100, now, delay });
    // Those that come late find the limit used up.
    const reports = await runInStep(service, [0, 5_000, 10_000, 15_000].map(task));
    expect(reports.map(({ succeeded }) => succeeded)).toEqual([100, 100, 100, 100]);
    const denials = reports.flatMap((report, index) => report.denials.map((denial) => ({ ...denial, index })));
    // From a second after the first denial of a period on, each further one is a strike.
    const strikes = periodsOf(denials).map((period) =>
      period.filter(({ at }) => at >= (period[0]?.at ?? 0) + 1_000).map(({ index }) => index),
    );
    for (const ofPeriod of strikes) expect(ofPeriod).toEqual([...new Set(ofPeriod)]);
    expect(strikes.flat()).not.toBeEmpty();
    const { json } = await service.call("GET", "/key", { key });
    expect(json.ban).toBeUndefined();
  } finally {
    await service.stop();
  }
});

test("a client that retries at once is banned", async () => {
  const service = await TestService.start();
  try {
    const key = await service.newKey("enterprise", quota);
    let code: string | undefined;
    for (let request = 0; request < 200 && code !== "key_banned"; request++) {
      code = (await service.call("GET", "/pets", { key })).json.code;
      service.clock.advance(100);
    }
    expect(code).toBe("key_banned");
  } finally {
    await service.stop();
  }
});

test("calls that cost no quota do not wait while it is used up", async () => {
  const service = await TestService.start();
  try {
    const key = await service.newKey("enterprise", quota);
    const clock = new DrivenClock(service.clock);
    const petstore = new Petstore({ key, baseUrl: service.app.base, clock, fetch: clock.fetch });
    const began = clock.now();
    await clock.drive(Promise.all(Array.from({ length: 54 }, () => petstore.listPets().page())));
    for (let request = 0; request < 7; request++) await service.call("GET", "/pets", { key });
    for (let call = 0; call < 3; call++) {
      expect(await clock.drive(petstore.getCurrentKey())).toMatchObject({ limits: { minute: { remaining: 0 } } });
      await clock.drive(petstore.listRequests().page());
    }
    const refused = clock.drive(petstore.listPets({}, { timeout: 1_000 }).page());
    expect(await refused.catch(({ code }) => code)).toBe("rate_limit_exceeded");
    expect(clock.now()).toBe(began);
  } finally {
    await service.stop();
  }
});
