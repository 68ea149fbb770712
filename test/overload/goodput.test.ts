// What is left of the best goodput at twice the load, and how soon all is normal again. Long form only:
// it measures, which a busy machine spoils.
import { describe, expect, test } from "bun:test";
import type { LoadLimits } from "../../src/http/load.ts";
import { longForm } from "../harness/form.ts";
import { hadProcessor, waitedForProcessor } from "../torture/run-queue.ts";
import { LoadedService } from "./loaded-service.ts";
import type { LoadOrder, LoadReport } from "./open-loop.ts";

/** The best goodput and that at twice the load are measured in turns, so often. */
const ROUNDS = 3;
/** Connections that suffice for the best goodput, and those of the crowd. */
const ENOUGH_CONNECTIONS = 64;
const CROWD = 1_000;
/** Seconds of a round. */
const LENGTH = 5;
/** The promises: what is left of the best goodput, and the seconds to be normal again. */
const LEFT = 0.9;
const NORMAL_WITHIN = 5;
/** Of a load that is no load: how much, for how long, and by how much its times may differ. */
const CALM = { rate: 200, connections: 8, seconds: 0.5 };
const ALIKE = { factor: 3, milliseconds: 5 };

const animal = JSON.stringify({ name: "Rex", categoryId: 1 });

/** More of the time than this without a processor, and rates by the clock say nothing. */
const BUSY = 0.1;

/** A load, and how many successes it had for each second of processor time of the service. */
interface Round extends LoadReport {
  readonly perProcessor: number;
  /** The part of the time in which others had the processor that the service waited for. */
  readonly waited: number;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** A service with animals to read, and its measurements. */
class Measured implements AsyncDisposable {
  readonly service: LoadedService;
  #request = "";

  static async start(limits?: Partial<LoadLimits>): Promise<Measured> {
    const measured = new Measured(await LoadedService.start(limits));
    await measured.of("POST", "/pets", animal).load({ connections: 16, seconds: 1 });
    return measured;
  }

  private constructor(service: LoadedService) {
    this.service = service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
  }

  /** Makes this the request that is measured. */
  of(method: string, path: string, body?: string): this {
    this.#request = this.service.request(method, path, body);
    return this;
  }

  /** Puts load on the service, and looks at the processor time that it had for it. */
  async load(order: Omit<LoadOrder, "port" | "request">): Promise<Round> {
    const { pid } = this.service.program.child;
    const before = { had: hadProcessor(pid), waited: waitedForProcessor(pid) };
    const report = await this.service.load({ request: this.#request, ...order });
    const successes = report.goodput * report.elapsed;
    const waited = (waitedForProcessor(pid) - before.waited) / 1_000 / report.elapsed;
    return { ...report, perProcessor: (successes / (hadProcessor(pid) - before.had)) * 1_000, waited };
  }

  /**
   * The share of the best goodput that is left at twice the load: by the clock, and by the processor time
   * that the service had, which is all that counts where others use the machine too.
   */
  async shareLeft(): Promise<{ byClock: number; byProcessor: number; waited: number }> {
    const [best, twice]: [Round[], Round[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      best.push(await this.load({ connections: ENOUGH_CONNECTIONS, seconds: LENGTH }));
      const rate = 2 * median(best.map(({ goodput }) => goodput));
      twice.push(await this.load({ connections: CROWD, seconds: LENGTH, rate }));
    }
    expect([...best, ...twice].filter(({ lost }) => lost > 0)).toEqual([]);
    const share = (figure: (round: Round) => number) => median(twice.map(figure)) / median(best.map(figure));
    const [byClock, byProcessor] = [share(({ goodput }) => goodput), share(({ perProcessor }) => perProcessor)];
    const waited = Math.max(...[...best, ...twice].map((round) => round.waited));
    const rates = [best, twice].map((rounds) => Math.round(median(rounds.map(({ goodput }) => goodput))));
    const refused = twice.reduce((sum, { statuses }) => sum + (statuses["503"] ?? 0), 0);
    console.log(
      `best ${rates[0]}/s, at twice the load ${rates[1]}/s: ${byClock.toFixed(2)} by the clock, ` +
        `${byProcessor.toFixed(2)} by processor time; ${refused} refused`,
    );
    return { byClock, byProcessor, waited };
  }

  /** The seconds from now until a calm load is answered as it was before. */
  async secondsUntilNormal(before: Round): Promise<number> {
    const { pid } = this.service.program.child;
    const since = performance.now();
    const waitedBefore = waitedForProcessor(pid) + waitedForProcessor(process.pid);
    for (;;) {
      const waited = waitedForProcessor(pid) + waitedForProcessor(process.pid) - waitedBefore;
      const seconds = (performance.now() - since - waited) / 1_000;
      const { statuses, lost, p50 } = await this.load(CALM);
      const isNormal = Object.keys(statuses).every((status) => status.startsWith("2")) && lost === 0;
      if (isNormal && p50 < ALIKE.factor * before.p50 + ALIKE.milliseconds) return Math.max(0, seconds);
    }
  }
}

describe.skipIf(!longForm)("at twice the load", () => {
  const requests = [
    ["adding an animal", "POST", "/pets", animal],
    ["reading an animal", "GET", "/pets/1", undefined],
    ["listing 100 animals", "GET", "/pets?limit=100", undefined],
  ] as const;

  test.each(requests)("%s keeps its goodput, and all is soon normal again", async (_what, method, path, body) => {
    await using measured = await Measured.start();
    measured.of(method, path, body);
    const before = await measured.load(CALM);
    const { byClock, byProcessor, waited } = await measured.shareLeft();
    expect(byProcessor).toBeGreaterThanOrEqual(LEFT);
    if (waited < BUSY) expect(byClock).toBeGreaterThanOrEqual(LEFT);
    const seconds = await measured.secondsUntilNormal(before);
    console.log(`normal again after ${seconds.toFixed(1)} s`);
    expect(seconds).toBeLessThanOrEqual(NORMAL_WITHIN);
  });

  test("reading an animal does not keep its goodput if all that is too much is refused: the control", async () => {
    await using measured = await Measured.start({ refuseOneIn: 1 });
    const { byProcessor } = await measured.of("GET", "/pets/1").shareLeft();
    expect(byProcessor).toBeLessThan(LEFT);
  });
});

describe.skipIf(!longForm)("a write among thousands that read", () => {
  const READERS = 3_000;

  /** The longest that a create took, in milliseconds of the service's processor time. */
  async function slowestCreate(limits?: Partial<LoadLimits>): Promise<number> {
    await using measured = await Measured.start(limits);
    const { service } = measured;
    const { pid } = service.program.child;
    const state = { isOver: false };
    const readers = measured.of("GET", "/pets/1").load({ connections: READERS, seconds: LENGTH });
    void readers.finally(() => (state.isOver = true));
    let slowest = 0;
    while (!state.isOver) {
      const before = hadProcessor(pid);
      await (await service.call("/pets", animal)).text();
      slowest = Math.max(slowest, hadProcessor(pid) - before);
    }
    return slowest;
  }

  test("comes to its turn, and would not if they were read on and on", async () => {
    const [bounded, control] = [await slowestCreate(), await slowestCreate({ longestTurn: Number.MAX_SAFE_INTEGER })];
    console.log(`slowest create: ${Math.round(bounded)} ms, without a bound ${Math.round(control)} ms`);
    expect(control).toBeGreaterThan(2 * bounded);
  });
});
