import type { Options, Testbed } from "./testbed.ts";

/** What is done to the machines. */
export interface Fault {
  readonly name: string;
  readonly options?: Options;
  readonly begin: (testbed: Testbed, notice: number) => void | Promise<void>;
  readonly end?: (testbed: Testbed) => void | Promise<void>;
}

/** Milliseconds that each direction takes longer with 100 ms of latency. */
const HALF = 50;

/** The primary's machine dies, and the operator, who notices after a while, promotes the standby. */
export const primaryDies: Fault = {
  name: "The primary's machine dies; its standby is promoted",
  begin: async ({ primary, databases }, notice) => {
    primary.die();
    await Bun.sleep(notice);
    await databases[1]?.run("SELECT pg_promote(false)");
  },
};

export const faults: readonly Fault[] = [
  { name: "None, for comparison", begin: () => {} },
  {
    name: "One machine with the service cannot reach PostgreSQL",
    begin: ({ services: [first], primary, standby }) => first?.cutFrom(primary.address, standby.address),
    end: ({ services: [first] }) => first?.heal(),
  },
  {
    name: "One machine with the service cannot reach Valkey",
    begin: ({ services: [first], limitsAddress }) => first?.cutFrom(limitsAddress),
    end: ({ services: [first] }) => first?.heal(),
  },
  {
    name: "No machine with the service can reach Valkey",
    begin: ({ services, limitsAddress }) => {
      for (const host of services) host.cutFrom(limitsAddress);
    },
    end: ({ services }) => {
      for (const host of services) host.heal();
    },
  },
  {
    name: "The primary cannot reach its standby",
    begin: ({ primary, standby }) => primary.cutFrom(standby.address),
    end: ({ primary }) => primary.heal(),
  },
  primaryDies,
  {
    name: "Valkey's master dies; its replica is promoted and takes its address",
    begin: async (testbed, notice) => {
      testbed.master.die();
      await Bun.sleep(notice);
      await testbed.promoteReplica();
    },
  },
  {
    name: "The proxy is killed, and started again",
    begin: async (testbed, notice) => {
      await testbed.killProxy();
      await Bun.sleep(notice);
      await testbed.startProxy();
    },
  },
  {
    name: "PostgreSQL is 100 ms away",
    options: { relay: "database" },
    begin: ({ relay }) => void (relay && (relay.delay = HALF)),
    end: ({ relay }) => void (relay && (relay.delay = 0)),
  },
  {
    name: "Valkey is 100 ms away",
    options: { relay: "limits" },
    begin: ({ relay }) => void (relay && (relay.delay = HALF)),
    end: ({ relay }) => void (relay && (relay.delay = 0)),
  },
  {
    name: "The clock of one machine is an hour ahead",
    options: { canSetClock: true },
    begin: (testbed) => testbed.setClock("+1h"),
    end: (testbed) => testbed.setClock("+0"),
  },
];
