// `banned_until`: the end of the last ban of a key for which an event was added, in Unix milliseconds.
import { statement } from "../../storage/statement.ts";
import { all, type Transaction } from "../../storage/transaction.ts";
import { BAN_END_ROUNDING } from "../../telemetry/abuse-log.ts";

// Changes nothing if the noted ban ends after `$3`, unless it ends from `$4` to `$5`: that ban is known to be over.
const note = statement<[until: number, id: string, end: number, from: number, to: number]>(
  `UPDATE api_keys SET banned_until = $1
   WHERE id = $2 AND (banned_until IS NULL OR banned_until <= $3 OR banned_until BETWEEN $4 AND $5) RETURNING id`,
);
const shorten = statement<[by: number, accountId: string]>(
  "UPDATE api_keys SET banned_until = banned_until - $1 WHERE account_id = $2 AND mode = 'test' AND banned_until IS NOT NULL",
);
// The scopes do not change. On PostgreSQL, writing them starts the trigger `api_keys_changed`, so that other processes
// read the key again, and the lifted bans: see `liftBan`.
const clear = statement<[id: string]>("UPDATE api_keys SET banned_until = NULL, scopes = scopes WHERE id = $1");

/**
 * Part of a transaction: notes a ban of a key until this time. Several processes may note the same ban, so it is noted only
 * if it ends after the one that is noted; otherwise the result is false. A noted end can be too late: a fast-forward
 * shortens only bans that are noted already. `earlier` is the planned end of a ban that is known to be over, or 0: a ban
 * that is noted with this end does not count. In Unix milliseconds.
 */
export function* noteBan(keyId: string, until: number, earlier: number): Transaction<boolean> {
  const from = earlier - BAN_END_ROUNDING;
  const to = earlier + BAN_END_ROUNDING;
  return (yield* all(note, until, keyId, until - BAN_END_ROUNDING, from, to)).length > 0;
}

/** Part of a transaction: forgets the noted ban of a key, so that its next ban adds an event again. */
export function* clearNotedBan(keyId: string): Transaction<void> {
  yield* all(clear, keyId);
}

/** Part of a transaction that advances the clock of an account's sandbox by this many milliseconds: its bans end earlier. */
export function* shortenNotedBans(accountId: string, by: number): Transaction<void> {
  yield* all(shorten, by, accountId);
}
