import type { Caller } from "../../contract/caller.ts";
import type { Operation } from "../../contract/operation.ts";
import type { DeprecatedCalls } from "./usage.store.ts";

/** The maximum number of keys counted for each operation. Calls of further keys are not counted. */
const MAX_KEYS = 200_000;

/** Counts calls of deprecated operations in memory, by operation and key, until they are taken to be stored. */
export class DeprecatedCallCounter {
  readonly #calls = new Map<Operation, Map<string, DeprecatedCalls>>();

  /** Adds calls of a key. `lastAt` is the time of the last one, in Unix milliseconds. */
  add(
    operation: Operation,
    { keyId, accountId }: Pick<Caller, "keyId" | "accountId">,
    calls: number,
    lastAt: number,
  ): void {
    let byKey = this.#calls.get(operation);
    if (!byKey) {
      byKey = new Map();
      this.#calls.set(operation, byKey);
    }
    const known = byKey.get(keyId);
    if (known) {
      known.calls += calls;
      known.lastAt = Math.max(known.lastAt, lastAt);
    } else if (byKey.size < MAX_KEYS) byKey.set(keyId, { operation, keyId, accountId, calls, lastAt });
  }

  /** Removes and returns the counts of at most `limit` keys of each operation. */
  take(limit: number): DeprecatedCalls[] {
    const taken: DeprecatedCalls[] = [];
    for (const byKey of this.#calls.values()) {
      for (const calls of byKey.values().take(limit)) {
        taken.push(calls);
        byKey.delete(calls.keyId);
      }
    }
    return taken;
  }

  /** Adds counts again that `take` returned and that could not be stored. */
  giveBack(taken: readonly DeprecatedCalls[]): void {
    for (const { operation, calls, lastAt, ...caller } of taken) this.add(operation, caller, calls, lastAt);
  }

  /** Drops the counts of an account's keys. */
  forget(accountId: string): void {
    for (const byKey of this.#calls.values()) {
      for (const [keyId, calls] of byKey) if (calls.accountId === accountId) byKey.delete(keyId);
    }
  }

  get isEmpty(): boolean {
    return this.#calls.values().every((byKey) => byKey.size === 0);
  }
}
