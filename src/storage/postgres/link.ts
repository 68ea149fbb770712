import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { StorageUnavailable } from "../errors.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { asStorageError, endsConnection, isReported } from "./errors.ts";

/** Time between two attempts to connect, in milliseconds. In between, work fails at once. */
const PAUSE = 50;

/** What a link reports about its connection. */
export interface LinkObserver {
  /** Connecting has failed for the first time since it succeeded. */
  lost(error: Error): void;
}

/** A connection that is opened when it is needed, and again after it was lost. */
export class Link {
  readonly #options: ConnectionOptions;
  readonly #observer: LinkObserver;
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #failure: { readonly error: unknown; readonly at: number } | undefined;
  #isClosed = false;

  constructor(options: ConnectionOptions, observer: LinkObserver) {
    this.#options = options;
    this.#observer = observer;
  }

  /** The connection. Rejects with `StorageUnavailable` as soon as it is known that there is none. */
  get(): MaybePromise<Connection> {
    if (this.#connection?.isOpen) return this.#connection;
    return (this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    }));
  }

  /** True if its last connection was given up because the server did not answer. */
  get isSilent(): boolean {
    return this.#connection?.isSilent ?? false;
  }

  /** Must be told what the connection's work failed with: after some errors another one is needed. */
  failed(connection: Connection, error: unknown): void {
    if (endsConnection(error)) connection.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  /** An operator who ends all sessions also ends one that has just begun: a second attempt tells whether the server is there. */
  async #connect(): Promise<Connection> {
    try {
      return await Connection.open(this.#options);
    } catch (error) {
      if (!endsConnection(error) || !isReported(error)) throw error;
      return Connection.open(this.#options);
    }
  }

  async #open(): Promise<Connection> {
    if (this.#isClosed) throw new StorageUnavailable("The store is closed.");
    if (this.#failure && performance.now() - this.#failure.at < PAUSE) throw this.#failure.error;
    try {
      const connection = await this.#connect();
      this.#failure = undefined;
      this.#connection = connection;
      if (this.#isClosed) connection.close();
      return connection;
    } catch (error) {
      const reported = asStorageError(error);
      if (!this.#failure) this.#observer.lost(reported as Error);
      this.#failure = { error: reported, at: performance.now() };
      throw reported;
    }
  }
}
