import { runtime, version } from "./version.ts";

/** Upper bounds of the histogram buckets, in seconds. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** A Prometheus histogram of seconds. */
class Histogram {
  readonly #buckets = new Float64Array(BOUNDS.length + 1);
  #sum = 0;

  observe(seconds: number): void {
    let index = 0;
    while (index < BOUNDS.length && seconds > (BOUNDS[index] as number)) index++;
    (this.#buckets[index] as number)++;
    this.#sum += seconds;
  }

  expose(name: string, labels: string): string {
    const prefix = labels === "" ? "" : `${labels},`;
    const suffix = labels === "" ? "" : `{${labels}}`;
    let count = 0;
    const lines = [...BOUNDS, Number.POSITIVE_INFINITY].map((bound, index) => {
      count += this.#buckets[index] as number;
      return `${name}_bucket{${prefix}le="${bound === Number.POSITIVE_INFINITY ? "+Inf" : bound}"} ${count}\n`;
    });
    return `${lines.join("")}${name}_sum${suffix} ${this.#sum}\n${name}_count${suffix} ${count}\n`;
  }
}

/** A metric that is read when the metrics are exposed. */
interface Callback {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly read: () => number;
}

/** The status of a response; `simulated` for a simulated error, so that alerts ignore it. */
type Status = number | "simulated";

/** Requests of one operation: how many by status, and how long they took. */
class OperationMetrics {
  readonly statuses = new Map<Status, number>();
  /** How many failed, by the code of their error. */
  readonly codes = new Map<string, number>();
  /** Undefined before the first request. */
  durations: Histogram | undefined;
}

/**
 * What the service counts, in the text format of Prometheus (version 0.0.4). Observing is a few look-ups and writes,
 * because it happens on every request.
 */
export class Metrics {
  readonly #operations = new Map<string, OperationMetrics>();
  readonly #limited = { account: 0, key: 0, address: 0, ban: 0 };
  readonly #timedOut = { body: 0, store: 0 };
  #shed = 0;
  readonly #commits = new Histogram();
  #transactions = 0;
  readonly #storeFailures = new Map<string, number>();
  readonly #waits = new Map<string, Histogram>();
  readonly #callbacks: Callback[] = [];

  /**
   * Exposes these counters of an operation from the start: `rate` of Prometheus misses the count with which a series
   * begins.
   */
  expect(operation: string, statuses: readonly number[], codes: readonly string[]): void {
    const metrics = this.#of(operation);
    for (const status of statuses) metrics.statuses.set(status, 0);
    for (const code of codes) metrics.codes.set(code, 0);
  }

  /** Counts a served request. `operation` is a name of the contract, or undefined for none. */
  request(operation: string | undefined, status: Status, seconds: number): void {
    const metrics = this.#of(operation);
    metrics.statuses.set(status, (metrics.statuses.get(status) ?? 0) + 1);
    (metrics.durations ??= new Histogram()).observe(seconds);
  }

  /** Counts a failed request by the code of its error. `operation` as above. */
  failed(operation: string | undefined, code: string): void {
    const { codes } = this.#of(operation);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  /** Notes how long a stage of a request has waited for something other than its client. */
  waited(stage: string, seconds: number): void {
    this.#waits.getOrInsertComputed(stage, () => new Histogram()).observe(seconds);
  }

  /** Counts a request that got 429: by the windows of its shop, its key or its address, or by a ban. */
  limited(by: "account" | "address" | "key" | "ban"): void {
    this.#limited[by]++;
  }

  /** Counts a request that was refused at overload. */
  shed(): void {
    this.#shed++;
  }

  /** Counts a request that got no response in time: its body did not arrive, or the store did not respond. */
  timedOut(awaiting: "body" | "store"): void {
    this.#timedOut[awaiting]++;
  }

  /** Counts a commit of the store and the transactions that shared it. */
  committed(seconds: number, transactions: number): void {
    this.#commits.observe(seconds);
    this.#transactions += transactions;
  }

  /** Counts work of the store that failed, by the engine's name of the cause. */
  storeFailed(cause: string): void {
    this.#storeFailures.set(cause, (this.#storeFailures.get(cause) ?? 0) + 1);
  }

  /** Adds a gauge. `read` is called when the metrics are exposed. */
  gauge(name: string, help: string, read: () => number): void {
    this.#add({ name, type: "gauge", help, read });
  }

  /** Adds a counter, which only grows. `read` is called when the metrics are exposed. */
  counter(name: `${string}_total`, help: string, read: () => number): void {
    this.#add({ name, type: "counter", help, read });
  }

  #add(callback: Callback): void {
    if (this.#callbacks.some(({ name }) => name === callback.name))
      throw new TypeError(`Two metrics are named ${callback.name}.`);
    this.#callbacks.push(callback);
  }

  #of(operation = "none"): OperationMetrics {
    let metrics = this.#operations.get(operation); // faster, and on every request
    if (!metrics) this.#operations.set(operation, (metrics = new OperationMetrics()));
    return metrics;
  }

  /** The metrics as text for `GET /metrics`. */
  expose(): string {
    const requests: string[] = [];
    const failures: string[] = [];
    const durations: string[] = [];
    for (const [operation, { statuses, codes, durations: histogram }] of this.#operations) {
      for (const [status, count] of statuses) {
        requests.push(`petstore_requests_total{operation="${operation}",status="${status}"} ${count}\n`);
      }
      for (const [code, count] of codes) {
        failures.push(`petstore_requests_failed_total{operation="${operation}",code="${code}"} ${count}\n`);
      }
      if (histogram) durations.push(histogram.expose("petstore_request_duration_seconds", `operation="${operation}"`));
    }
    const cpu = process.cpuUsage();
    return [
      head("petstore_build_info", "gauge", "1, with the version of the program and what runs it."),
      `petstore_build_info{version="${version}",runtime="${runtime}",platform="${process.platform}-${process.arch}"} 1\n`,
      head("petstore_requests_total", "counter", "Requests served, by operation and status."),
      ...requests,
      head("petstore_requests_failed_total", "counter", "Requests that failed, by operation and code of the error."),
      ...failures,
      head("petstore_request_duration_seconds", "histogram", "Time from a request to its response."),
      ...durations,
      head("petstore_request_wait_seconds", "histogram", "Time that stages of requests waited, except for clients."),
      ...[...this.#waits].map(([stage, waits]) => waits.expose("petstore_request_wait_seconds", `stage="${stage}"`)),
      head("petstore_requests_limited_total", "counter", "Requests over a rate limit, by whose windows."),
      `petstore_requests_limited_total{by="account"} ${this.#limited.account}\n`,
      `petstore_requests_limited_total{by="key"} ${this.#limited.key}\n`,
      `petstore_requests_limited_total{by="address"} ${this.#limited.address}\n`,
      head("petstore_requests_banned_total", "counter", "Requests refused because their key is banned."),
      `petstore_requests_banned_total ${this.#limited.ban}\n`,
      head("petstore_requests_shed_total", "counter", "Requests refused at overload."),
      `petstore_requests_shed_total ${this.#shed}\n`,
      head("petstore_requests_timed_out_total", "counter", "Requests past their deadline, by what they waited for."),
      `petstore_requests_timed_out_total{awaiting="body"} ${this.#timedOut.body}\n`,
      `petstore_requests_timed_out_total{awaiting="store"} ${this.#timedOut.store}\n`,
      head("petstore_commit_duration_seconds", "histogram", "Time of a commit of the store, its sync included."),
      this.#commits.expose("petstore_commit_duration_seconds", ""),
      head("petstore_transactions_total", "counter", "Transactions that shared those commits."),
      `petstore_transactions_total ${this.#transactions}\n`,
      head(
        "petstore_store_failures_total",
        "counter",
        "Work of the store that failed, by the engine's name of the cause.",
      ),
      ...[...this.#storeFailures].map(([cause, count]) => `petstore_store_failures_total{cause="${cause}"} ${count}\n`),
      ...this.#callbacks.map(({ name, type, help, read }) => `${head(name, type, help)}${name} ${read()}\n`),
      head("process_resident_memory_bytes", "gauge", "Memory of the process."),
      `process_resident_memory_bytes ${process.memoryUsage.rss()}\n`,
      head("process_cpu_seconds_total", "counter", "CPU time of the process, user and system."),
      `process_cpu_seconds_total ${(cpu.user + cpu.system) / 1e6}\n`,
      head("process_start_time_seconds", "gauge", "Start of the process, in unix seconds."),
      `process_start_time_seconds ${Math.round(performance.timeOrigin) / 1000}\n`,
    ].join("");
  }
}

function head(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}
