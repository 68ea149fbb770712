/** The store cannot be read or written now. The failed work left no changes. */
export class StorageUnavailable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "StorageUnavailable";
  }
}

/** The reply to a commit was lost, so it is unknown whether the work was committed. */
export class CommitUnknown extends StorageUnavailable {}

/** The store cannot be used at all: a clear reason for the operator, who must act. */
export class StorageUnusable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "StorageUnusable";
  }
}
