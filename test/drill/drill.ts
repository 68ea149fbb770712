import { runCommand } from "../harness/program.ts";
import type { Fault } from "./faults.ts";
import { LimitedClient, Load } from "./load.ts";
import { Testbed } from "./testbed.ts";

/** What a fault did to the clients. */
export interface Outcome {
  readonly fault: Fault;
  readonly acknowledged: number;
  readonly lost: number;
  readonly duplicated: number;
  /** Anything else that went against the ledger. */
  readonly violations: readonly string[];
  readonly admittedBeyond: number;
  /** The longest times without a success, in seconds. */
  readonly withoutWrites: number;
  readonly withoutReads: number;
  /** Unsuccessful responses by status; 0 for requests without a response. */
  readonly failures: ReadonlyMap<number, number>;
}

/** How long each part takes. */
export interface Pace {
  readonly before: (load: Load) => Promise<void>;
  readonly during: (load: Load) => Promise<void>;
  readonly after: (load: Load) => Promise<void>;
  /** Milliseconds until the operator or a monitor notices that a machine has died. */
  readonly notice: number;
}

/** Does something to the machines under load, ends it, and tells what clients noticed. */
export async function measureFault(fault: Fault, cluster: string, pace: Pace): Promise<Outcome> {
  const testbed = await Testbed.start(cluster, fault.options);
  try {
    const load = new Load(testbed.base, testbed.keys.unlimited);
    const limited = new LimitedClient(testbed.base, testbed.keys.limited);
    await pace.before(load);
    await fault.begin(testbed, pace.notice);
    await pace.during(load);
    await fault.end?.(testbed);
    await pace.after(load);
    const admittedBeyond = await limited.finish();
    await load.finish();
    const { ledger, writes, reads, failures } = load;
    // What is left of the machines is still a petstore, also behind the proxy.
    const verify = ["verify", testbed.base, "--levels", "core,service", "--live"];
    const { stdout, stderr } = await runCommand(testbed.folder, verify, { PETSTORE_KEY: testbed.keys.unlimited });
    const failed = stdout.match(/^.* FAILED .*(\n +.*)*/gm) ?? (stdout.includes(" 0 failed") ? [] : [stderr]);
    return {
      fault,
      acknowledged: ledger.acknowledged,
      lost: ledger.lost,
      duplicated: ledger.duplicated,
      violations: [...ledger.violations, ...failed],
      admittedBeyond,
      withoutWrites: writes.longestGap,
      withoutReads: reads.longestGap,
      failures,
    };
  } finally {
    await testbed.remove();
  }
}
