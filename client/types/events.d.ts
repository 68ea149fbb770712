import { type Clock } from "./clock.js";
import { type IdKind } from "./json.js";
/** An event, and the id behind which a client continues; without an event, nothing has happened. */
type Item = readonly [id: string, event: unknown];
/** The events of one connection (Server-sent events, as the service writes them), and then a pause. */
export declare function readEvents({ body }: Response, clock: Clock, ids: IdKind | undefined, signal: AbortSignal): AsyncGenerator<Item, void, void>;
/** The events of one connection after the other. */
export declare function follow(connect: (lastEventId: string) => Promise<AsyncIterable<Item>>): AsyncGenerator<unknown, never, void>;
export {};
