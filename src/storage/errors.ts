/** The store cannot be read or written now. The failed work changed nothing, except as `Storage.write` says. */
export class StorageUnavailable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "StorageUnavailable";
  }
}

/** The response to a commit was lost. It is unknown whether the work was committed. */
export class CommitUnknown extends StorageUnavailable {}

/** The store cannot be used until the operator acts. The message says why. */
export class StorageUnusable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "StorageUnusable";
  }
}

/** How long the consumer of a stream may take for one batch, in milliseconds. Until then, the store keeps a snapshot. */
export const STREAM_IDLE = 600_000;

/** The error for a stream whose consumer took longer. */
export function streamIdle(cause?: unknown): StorageUnavailable {
  return new StorageUnavailable(`The next rows were not read for ${STREAM_IDLE / 60_000} minutes.`, { cause });
}
