import type { ShopName, ShopNumber } from "./caller.ts";
import type { Change, Read } from "./steps.ts";

/** The kinds of what waits in a sandbox, in the order in which they are shown. */
export const waitingKinds = [
  "reservation",
  "webhook_attempt",
  "endpoint_disabling",
  "stored_response",
  "webhook_secret",
] as const;
export type WaitingKind = (typeof waitingKinds)[number];

/** A sandbox, and the number of its shop. */
export interface SandboxShop extends ShopName {
  readonly shop: ShopNumber;
}

/** What waits in a sandbox, of one kind. */
export interface Waiting {
  readonly kind: WaitingKind;
  readonly count: number;
  /** When the first is due, in Unix milliseconds. */
  readonly next: number;
}

/**
 * An owner of due times, such as the ends of reservations. It registers with the host (`Host.hasDueTimes`). A
 * fast-forward of a sandbox calls all owners; nothing else knows of fast-forwards.
 */
export interface DueTimes {
  /** Part of a read: what waits in a sandbox, with each kind counted up to `most`. */
  waiting(sandbox: SandboxShop, most: number): Read<readonly Waiting[]>;
  /**
   * Part of the transaction of a fast-forward, which has locked the shop: all that waits in the store is due this many
   * milliseconds earlier.
   */
  bringNearer?(sandbox: SandboxShop, milliseconds: number): Change<void>;
  /**
   * When that transaction is committed, and before the response: brings nearer what is too much for one transaction, and
   * does up to `most` items that are due now. A retry of an interrupted fast-forward calls it again.
   */
  finish?(sandbox: SandboxShop, milliseconds: number, most: number): Promise<void>;
}

/** The columns of a statement that counts what waits: `next` is null if nothing does. */
export type WaitingRow = { count: bigint; next: bigint | null };

/** What a statement has counted. */
export function waitingOf(kind: WaitingKind, row: WaitingRow | undefined): Waiting[] {
  return row?.next == null ? [] : [{ kind, count: Number(row.count), next: Number(row.next) }];
}
