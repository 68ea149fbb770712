import { type Event, type EventType, Petstore, PetstoreError } from "../../../../client/src/index.ts";
import { CommandFailed } from "../../../terminal/command.ts";

/** With exact integers. */
export type FeedEvent = Event;

interface FeedOptions {
  /** The base address of the service. */
  readonly base: string;
  readonly key: string;
  readonly types: string | undefined;
  /** The id of the event to start after; undefined to start with the next one. */
  readonly after: string | undefined;
  readonly stop: AbortSignal;
  /** Prints a line on the terminal. */
  readonly say: (line: string) => Promise<void>;
}

/**
 * The events of a shop, read from the public stream, to which the client reconnects whenever it ends. Ends when `stop` is
 * aborted. Throws `CommandFailed` if reconnecting would not help.
 */
export async function* eventFeed(options: FeedOptions): AsyncGenerator<FeedEvent, void, void> {
  const { base, key, types, stop, say } = options;
  const petstore = new Petstore({
    key,
    baseUrl: base,
    timeout: Number.POSITIVE_INFINITY,
    retries: Number.POSITIVE_INFINITY,
    logger: { warn: (line) => void say(line) },
    onResponse: ({ ok }) => (ok ? say(`Following the events of the sandbox at ${base}.`) : undefined),
  });
  const type = types?.split(",") as EventType[] | undefined;
  for (let after = options.after; ; after = undefined) {
    try {
      yield* petstore.streamEvents({ type, after: after === undefined ? undefined : BigInt(after) }, { signal: stop });
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof PetstoreError)) throw error;
      if (error.code !== "events_expired") throw new CommandFailed(error.code, error.message);
      await say("The last event was deleted, or the sandbox was reset. Continuing with the next event.");
    }
  }
}
