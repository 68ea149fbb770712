import { cpus, loadavg, release } from "node:os";
import type { Outcome } from "./drill.ts";
import { LimitedClient } from "./load.ts";

const row = (...cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
const count = (number: number) => number.toLocaleString("en");
const seconds = (number: number) => number.toFixed(1);

/** docs/drill-results.md. */
export function page(outcomes: readonly Outcome[], versions: readonly string[]): string {
  return `# Measured: failover

Written by \`npm run drill\`: one run on one machine. The machines are network namespaces: three with the service, PostgreSQL with a synchronous standby, Valkey with a replica, and nginx ([several machines](../deploy/README.md#several-machines)). 100 ms away means 50 ms more in each direction.

Eight clients add animals. They repeat each request, with the same \`Idempotency-Key\`, until it is acknowledged. Two more clients read. Another one sends 30 requests a second for an account with ${LimitedClient.limit} a minute. Each fault begins after 5 s and lasts 10 s, or until the end. When a machine dies, the drill acts 3 s later, in place of an operator.

- *lost*: acknowledged animals that are missing at the end; *duplicated*: those that exist twice.
- *beyond*: requests of the limited client that were admitted above its limit. A machine that cannot reach Valkey counts alone, and adds what it counted afterwards.
- *s without …*: the longest time without a successful write or read.
- *failed*: all responses that were not a success. A client gives up on a response after 5 s and repeats the request, which gets 409 while the first attempt is running.

nginx still sends requests to a machine that cannot reach PostgreSQL: reads fail there within 3 s, and writes with an \`Idempotency-Key\` within 10.5 s. So do writes that were sent to a primary just before it died. While the primary cannot reach its standby, no write is acknowledged.

Other programs used the processor too (last line). Only *lost*, *duplicated*, *beyond* and large differences mean something.

${[
  row("fault", "acknowledged", "lost", "duplicated", "beyond", "s without writes", "s without reads", "failed"),
  row("---", "--:", "--:", "--:", "--:", "--:", "--:", "---"),
  ...outcomes.map((outcome) =>
    row(
      outcome.fault.name,
      count(outcome.acknowledged),
      outcome.lost,
      outcome.duplicated,
      outcome.admittedBeyond,
      seconds(outcome.withoutWrites),
      seconds(outcome.withoutReads),
      failed(outcome),
    ),
  ),
].join("\n")}

${[...versions, `Linux ${release()}`, `${cpus().length} cores for everything, load average ${loadavg()[2]?.toFixed(1)} (15 minutes)`, new Date().toISOString().slice(0, 10)].join(", ")}.
`;
}

function failed({ failures }: Outcome): string {
  const parts = [...failures].toSorted(([one], [other]) => one - other);
  return parts.map(([status, times]) => `${count(times)} × ${status === 0 ? "no response" : status}`).join(", ") || "0";
}
