import { StorageUnavailable } from "../../src/storage/errors.ts";
import type { QueryStatement, Row, Values } from "../../src/storage/statement.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import type { Change, Read } from "../../src/storage/transaction.ts";
import type { MaybePromise } from "../../src/timing/maybe-promise.ts";
import { readStepwise } from "./stepwise-read.ts";

/** A store that answers reads later, like one across a network, and that can fail. */
export class DistantStorage implements OpenStorage {
  readonly #storage: OpenStorage;
  readonly readsSynchronously = false;
  readsFail = false;
  /** Reads wait until it resolves. */
  readsAfter: Promise<void> | undefined;
  /** How many writes succeed before all fail. */
  writesLeft = Number.POSITIVE_INFINITY;
  reads = 0;

  constructor(storage: OpenStorage) {
    this.#storage = storage;
  }

  read<T>(transaction: Read<T>): Promise<T> {
    return readStepwise(
      (step) => this.#storage.read(step),
      transaction,
      async () => {
        this.reads++;
        if (this.readsFail) throw new StorageUnavailable("away");
        await this.readsAfter;
      },
    );
  }

  stream<P extends Values, R extends Row>(
    statement: QueryStatement<P, R>,
    ...parameters: NoInfer<P>
  ): AsyncIterable<readonly R[]> {
    return this.#storage.stream(statement, ...parameters);
  }

  write<T>(body: () => Change<T>): Promise<T> {
    return this.writesLeft-- > 0 ? this.#storage.write(body) : Promise.reject(new StorageUnavailable("full"));
  }

  follow(): void {}
  onCommit(listener: () => void): void {
    this.#storage.onCommit(listener);
  }
  settled(): MaybePromise<void> {
    return this.#storage.settled();
  }
  versionOf(): undefined {}
  changesPropagated(): Promise<void> {
    return this.#storage.changesPropagated();
  }
  scrub(): Promise<boolean> {
    return this.#storage.scrub();
  }
  lead(): MaybePromise<boolean> {
    return this.#storage.lead();
  }
  check(): Promise<void> {
    return this.#storage.check();
  }
  close(): Promise<void> {
    return this.#storage.close();
  }
}
