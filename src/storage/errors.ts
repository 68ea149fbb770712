/** The store cannot be read or written now. Nothing of the work that failed with it was kept. */
export class StorageUnavailable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "StorageUnavailable";
  }
}

/** The answer to a commit is missing: the work may have been kept, or not. */
export class CommitUnknown extends StorageUnavailable {}

/** The store cannot be used at all: a clear reason for the operator, who must act. */
export class StorageUnusable extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "StorageUnusable";
  }
}
