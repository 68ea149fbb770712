import { expect } from "bun:test";
import { cpuTimeOf, runQueueDelayOf } from "../harness/cpu-time.ts";
import { LoadedService } from "./loaded-service.ts";
import type { LoadOrder, LoadReport } from "./open-loop.ts";

/** How often the best goodput, and the goodput at twice that load, are measured in turns. */
const ROUNDS = 3;
/** Connections that suffice to keep the service busy, and those of the crowd. */
const ENOUGH_CONNECTIONS = 64;
const CROWD = 1_000;
/** The loads among which the best for the crowd is found, as shares of the largest possible one. */
const FULL_LOADS = [0.8, 0.9, 1];
/** Seconds of a round. */
const ROUND_SECONDS = 5;
/** A load too small to slow the service: its rate and length, and by how much its times may differ. */
export const CALM = { rate: 200, connections: 8, seconds: 0.5 };
const ALIKE = { factor: 3, milliseconds: 5 };

export const animal = JSON.stringify({ name: "Rex", categoryId: 1 });

/** The result of a load, with its successes per second of CPU time of the service. */
interface Round extends LoadReport {
  readonly perCpuSecond: number;
  /** The share of the time in which the service waited for a CPU that other processes used. */
  readonly waited: number;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** A service with animals to read, and its measurements. */
export class Measured implements AsyncDisposable {
  readonly service: LoadedService;
  #request = "";

  static async start(): Promise<Measured> {
    const measured = new Measured(await LoadedService.start());
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

  /** Puts load on the service, and measures the CPU time that it used. */
  async load(order: Omit<LoadOrder, "port" | "request">): Promise<Round> {
    const { pid } = this.service.program.child;
    const before = { had: cpuTimeOf(pid), waited: runQueueDelayOf(pid) };
    const report = await this.service.load({ request: this.#request, ...order });
    const successes = report.goodput * report.elapsed;
    const waited = (runQueueDelayOf(pid) - before.waited) / 1_000 / report.elapsed;
    return { ...report, perCpuSecond: (successes / (cpuTimeOf(pid) - before.had)) * 1_000, waited };
  }

  /**
   * The share of the best goodput that is left at twice the load: by the clock, and by the CPU time
   * that the service had, which says more where others use the machine too. Both loads come from the same
   * clients: a thousand connections cost more than a few, however little each of them asks.
   */
  async shareLeft(): Promise<{ byClock: number; byCpuTime: number; waited: number }> {
    const [few, best, twice]: [Round[], Round[], Round[]] = [[], [], []];
    for (let round = 0; round < ROUNDS; round++) {
      few.push(await this.load({ connections: ENOUGH_CONNECTIONS, seconds: ROUND_SECONDS }));
      const unbounded = await this.load({ connections: CROWD, seconds: ROUND_SECONDS });
      const possible = Math.max(unbounded.goodput, median(few.map(({ goodput }) => goodput)));
      const full: Round[] = [];
      for (const part of FULL_LOADS) full.push(await this.#crowd(part * possible));
      best.push(full.reduce((one, other) => (other.goodput > one.goodput ? other : one)));
      twice.push(await this.#crowd(2 * possible));
    }
    expect([...few, ...best, ...twice].filter(({ lost }) => lost > 0)).toEqual([]);
    const share = (figure: (round: Round) => number) => median(twice.map(figure)) / median(best.map(figure));
    const [byClock, byCpuTime] = [share(({ goodput }) => goodput), share(({ perCpuSecond }) => perCpuSecond)];
    const waited = Math.max(...[...best, ...twice].map((round) => round.waited));
    const rates = [few, best, twice].map((rounds) => Math.round(median(rounds.map(({ goodput }) => goodput))));
    const refused = twice.reduce((sum, { statuses }) => sum + (statuses["503"] ?? 0), 0);
    console.log(
      `${rates[0]}/s for ${ENOUGH_CONNECTIONS} connections; for ${CROWD} at best ${rates[1]}/s, at twice the load ` +
        `${rates[2]}/s: ${byClock.toFixed(2)} by the clock, ${byCpuTime.toFixed(2)} by CPU time; ` +
        `${refused} refused`,
    );
    return { byClock, byCpuTime, waited };
  }

  /** Puts the load of many clients on the service, this many requests a second. */
  #crowd(rate: number): Promise<Round> {
    return this.load({ connections: CROWD, seconds: ROUND_SECONDS, rate });
  }

  /** The seconds from now until a calm load is answered as it was before. */
  async secondsUntilNormal(before: Round): Promise<number> {
    const { pid } = this.service.program.child;
    const since = performance.now();
    const waitedBefore = runQueueDelayOf(pid) + runQueueDelayOf(process.pid);
    for (;;) {
      const waited = runQueueDelayOf(pid) + runQueueDelayOf(process.pid) - waitedBefore;
      const seconds = (performance.now() - since - waited) / 1_000;
      const { statuses, lost, p50 } = await this.load(CALM);
      const isNormal = Object.keys(statuses).every((status) => status.startsWith("2")) && lost === 0;
      if (isNormal && p50 < ALIKE.factor * before.p50 + ALIKE.milliseconds) return Math.max(0, seconds);
    }
  }
}
