// A process of client/test/limits.test.ts: it calls the service through one client, by the clock of the test. When no
// request of it is in flight, it tells the test when its next timer is due, and waits to be told the time.
import { type Clock, Petstore } from "../src/index.ts";

/** What the process starts with. */
export interface Task {
  readonly key: string;
  readonly baseUrl: string;
  readonly calls: number;
  readonly now: number;
  /** How much later than the others it begins, in milliseconds. */
  readonly delay: number;
}

/** What it tells when nothing can happen before time passes. */
export interface Report {
  /** When the next timer is due; undefined once all calls are over. */
  readonly next?: number | undefined;
  readonly succeeded: number;
  readonly denials: readonly Denial[];
}

/** A 429: when it came, and until when it said to wait, in unix milliseconds. */
export interface Denial {
  readonly at: number;
  readonly until: number;
}

const { key, baseUrl, calls, delay, now: start } = JSON.parse(process.argv[2] as string) as Task;

let now = start;
let inFlight = 0;
let succeeded = 0;
const denials: Denial[] = [];
const timers = new Set<{ readonly at: number; readonly run: () => void }>();
const clock: Clock = {
  now: () => now,
  after(milliseconds, run) {
    const timer = { at: now + milliseconds, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  },
};

const petstore = new Petstore({
  key,
  baseUrl,
  clock,
  timeout: 3_600_000,
  async fetch(...request) {
    inFlight++;
    try {
      const response = await fetch(...request);
      if (response.status === 429)
        denials.push({ at: now, until: now + Number(response.headers.get("retry-after")) * 1_000 });
      const told = new Response(await response.arrayBuffer(), response);
      told.headers.set("Date", new Date(now).toUTCString()); // the server's own is the real time
      return told;
    } finally {
      inFlight--;
    }
  },
});
const all = Array.from({ length: calls }, async () => {
  await new Promise<void>((begin) => clock.after(delay, begin));
  await petstore.listPets().page();
  succeeded++;
});

/** Reports once no request is in flight, nor about to be sent. */
async function report(): Promise<void> {
  for (let quiet = 0; quiet < 5; quiet = inFlight === 0 ? quiet + 1 : 0)
    await new Promise((done) => setImmediate(done));
  const next = succeeded < calls ? Math.min(...[...timers].map(({ at }) => at)) : undefined;
  process.send?.({ next, succeeded, denials } satisfies Report);
}

process.on("message", (time: number) => {
  now = time;
  for (const timer of [...timers].filter(({ at }) => at <= now)) {
    timers.delete(timer);
    timer.run();
  }
  void report();
});
await Promise.all([report(), ...all]);
