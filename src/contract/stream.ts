/** What a client of a stream is sent. */
export interface StreamSource<T> {
  /** The id of the last event before the stream: where the client resumes if the connection is lost before the next one. */
  readonly position: bigint;
  /** Begins to send. Calls the returned function once, when the stream has ended for any reason. */
  readonly start: (sink: StreamSink<T>) => () => void;
}

/** One client of a stream. After its end, everything sent to it is dropped. */
export interface StreamSink<T> {
  /** Sends events, in order. The same list given to several clients is written as text once. */
  send(events: readonly T[]): void;
  /** Notes that the client has missed nothing up to the event with this id, though it may not have been sent it. */
  pass(id: bigint): void;
  /** Resolves when the client has taken all that was sent, or the stream has ended. */
  drained(): Promise<void>;
  readonly isOpen: boolean;
  /** Ends the stream. The client may come back for the rest. */
  end(): void;
}

/** Streams that an account may have open at one process. */
export const MAX_STREAMS = 100;

/** The header with which a client resumes a stream (Server-sent events, HTML). */
export const LAST_EVENT_ID = "Last-Event-ID";
