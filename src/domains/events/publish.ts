import type { Caller, ShopNumber } from "../../contract/caller.ts";
import { insertAll, together } from "../../storage/combined-steps.ts";
import { insertInto } from "../../storage/table.ts";
import type { Change } from "../../storage/transaction.ts";
import { type LockedShop, updateShop } from "../shops/locked-shop.ts";
import { columns, eventTable } from "./events.table.ts";
import type { NewEvent } from "./new-event.ts";

/** The actor for a key that readers of the shop's log must not see. */
export const UNNAMED_KEY = "key";

/** Who makes a change, and the shop that changes. */
export interface Author {
  readonly shop: ShopNumber;
  /** The id of a key, `UNNAMED_KEY`, `system` or `operator`. */
  readonly actor: string;
  /** Its name, as readers of the log know it. */
  readonly name: string;
  /** The request that makes the change, if there is one. */
  readonly requestId: string | null;
}

/** The key of a request, as the author of its changes. */
export function authorOf({ shop, keyId, name }: Caller, requestId: string): Author {
  return { shop, actor: keyId, name, requestId };
}

/** The service itself, as the author of the changes of background tasks. */
export function system(shop: ShopNumber): Author {
  return { shop, actor: "system", name: "system", requestId: null };
}

/** The operator, as the author of the changes of a command. */
export function operator(shop: ShopNumber): Author {
  return { shop, actor: "operator", name: "operator", requestId: null };
}

/** The id of the key that an actor is; undefined if it is no key, or one that readers must not see. */
export function keyIdOf(actor: string): string | undefined {
  return ["system", "operator", UNNAMED_KEY].includes(actor) ? undefined : actor;
}

const insert = insertInto(eventTable, ["shop", "id", ...columns]);

/**
 * Part of a transaction: adds events, in this order, to the log of the shop that it has locked, and writes the figures
 * that were recorded with `addToFigure`. Throws if there are no events although figures were recorded: they would be lost.
 */
export function publish(
  locked: LockedShop,
  { actor, requestId }: Author,
  events: readonly NewEvent[],
): Change<unknown> {
  const { shop, at } = locked;
  if (events.length === 0) {
    if ([...locked.changes.values()].every((by) => by === 0)) return together([]);
    throw new Error("Figures were recorded, but there are no events to publish with them.");
  }
  const rows = events.map(
    ({ type, under, subjectId, data, previous }) =>
      [shop, ++locked.lastEventId, at, type.type, under, subjectId, actor, requestId, data, previous] as const,
  );
  return together([updateShop(locked), insertAll(insert, rows)]);
}
