import type { TakenAlone } from "../memory-counts.ts";
import { type Decision, type Kind, kinds, type Sender } from "../windows.ts";
import { add, decide, forget, presence } from "./scripts.ts";
import type { Valkey } from "./valkey.ts";

/** The most records in one call. It limits how long the call blocks the server. */
const MAX_RECORDS = 500;

/** Requests of a sender that come in one turn of the event loop. With none, nothing is counted. */
export interface Question {
  readonly sender: Sender;
  readonly requests: number;
}

/** The records in a Valkey or Redis server or cluster. Each command is one call, and rejects if it fails. */
export type Commands = ReturnType<typeof commandsTo>;

/** `prefix` begins the name of each key. `time` replaces the server's clock in tests, in Unix milliseconds. */
export function commandsTo(valkey: Valkey, prefix = "petstore:", time?: () => number) {
  const recordOf = (kind: Kind, owner: string) => `${prefix}{${owner}}:${kind}`;
  const now = () => time?.() ?? "";
  return {
    /** Splits items into calls. In a cluster a call goes to one slot, which accounts and addresses rarely share. */
    split<T>(items: readonly T[], ownerOf: (item: T) => string): (readonly T[])[] {
      if (valkey.isCluster) return [...Map.groupBy(items, ownerOf).values()];
      const calls = Math.ceil(items.length / MAX_RECORDS);
      return Array.from({ length: calls }, (_, call) => items.slice(call * MAX_RECORDS, (call + 1) * MAX_RECORDS));
    },

    async decide(questions: readonly Question[]): Promise<Decision[]> {
      const records = questions.map(({ sender }) => recordOf(sender.kind, sender.owner));
      const replies = await valkey.run(decide, records, [now(), ...questions.map(questionText)]);
      return questions.map(({ sender }, index) => readDecision((replies as string[])[index] as string, sender));
    },

    /** Commands that are sent later run later, although the server may not know the script. */
    async add(additions: readonly TakenAlone[]): Promise<void> {
      const records = additions.map(({ windows: { kind, owner } }) => recordOf(kind, owner));
      const texts = additions.map(({ alone }) =>
        alone.map(({ field, length, requests, rest }) => `|${field} ${length} ${requests} ${rest}`).join(""),
      );
      await valkey.runInOrder(add, records, [now(), ...texts]);
    },

    async forget(accountId: string): Promise<void> {
      const records = kinds.map((kind) => recordOf(kind, accountId));
      await valkey.run(forget, records, []);
    },

    /** Reports that this process runs. Returns the number of running processes once every server has replied. */
    async reportPresence(process: string): Promise<number> {
      const noted = valkey.run(presence, [`${prefix}processes`], ["", process]);
      const [processes] = await Promise.all([noted, valkey.ping()]);
      return Number(processes);
    },

    /** Drops connections that no longer receive anything. */
    reconnect: () => valkey.reconnect(),
    close: () => valkey.close(),
  };
}

/** The argument of the script `decide` for one record. */
function questionText({ sender: { limits, strikesForBan, keyId }, requests: n }: Question): string {
  const windows = limits.map(({ field, length, requests }) => `|${field} ${length} ${requests}`);
  return `${n} ${strikesForBan} ${keyId}${windows.join("")}`;
}

function readDecision(reply: string, { limits }: Sender): Decision {
  const [admitted = 0, lastStrike = 0, strikes = 0, now = 0, ...figures] = reply.split(" ").map(Number);
  const windows = limits.map((limit, index) => {
    const [used = 0, ends = 0] = figures.slice(2 * index);
    return { limit, window: { used, ends } };
  });
  return { admitted, lastStrike, strikes, now, windows, weight: 1 };
}
