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
