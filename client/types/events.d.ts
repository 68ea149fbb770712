// Generated from client/src by `npm run derive`.

import { type Clock } from "./clock.js";
import { type IdKind } from "./json.js";
/** An event and the id after which to resume. A keep-alive has an id but no event. */
type Item = readonly [id: string, event: unknown];
/** Yields the events of one connection (server-sent events), then waits before the next one. */
export declare function readEvents(response: Response, clock: Clock, ids: IdKind | undefined, signal: AbortSignal): AsyncGenerator<Item, void, void>;
/** Yields the events and reconnects after each lost connection. */
export declare function follow(connect: (lastEventId: string) => Promise<AsyncIterable<Item>>): AsyncGenerator<unknown, never, void>;
export {};
