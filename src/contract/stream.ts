/** The producer of the events of a stream. */
export interface StreamSource<T> {
  /** The id of the last event before the stream. The client resumes here if it loses the connection before the next one. */
  readonly position: bigint;
  /** Starts sending. The returned function is called once, when the stream ends for any reason. */
  readonly start: (sink: StreamSink<T>) => () => void;
}

/** One client of a stream. After its end, everything sent to it is dropped. */
export interface StreamSink<T> {
  /** Sends events in order. A list that is sent to several clients is serialized once. */
  send(events: readonly T[]): void;
  /** Records that the client has all matching events up to this id. */
  skipTo(id: bigint): void;
  /** Resolves when the client has taken all that was sent, or the stream has ended. */
  drained(): Promise<void>;
  readonly isOpen: boolean;
  /** Ends the stream. The client may reconnect for the rest. */
  end(): void;
  /**
   * Ends the stream because its ids start again, as after a reset. A client that resumes it is refused: it would skip
   * the new events up to its last id.
   */
  endLog(): void;
}

/** Streams that a shop, live or sandbox, may have open in one process. */
export const MAX_STREAMS = 100;

/**
 * How a client says where it resumes a stream: with the header of server-sent events (HTML), or with the query parameter
 * that polyfills send instead.
 */
export const LAST_EVENT_ID = { header: "Last-Event-ID", query: "lastEventId" } as const;
