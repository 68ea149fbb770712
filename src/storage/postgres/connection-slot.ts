import type { MaybePromise } from "../../timing/maybe-promise.ts";
import { StorageUnavailable } from "../errors.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { asStorageError, endsConnection, endsNewConnection } from "./errors.ts";

/** The time between two connection attempts, in milliseconds. In between, work fails immediately. */
const PAUSE = 50;

/** A slot for one connection, which is opened on first use, and again after it is lost. */
export class ConnectionSlot {
  readonly #options: ConnectionOptions;
  readonly #onUnreachable: (error: Error) => void;
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #failure: { readonly error: unknown; readonly at: number } | undefined;
  #isClosed = false;

  /** `onUnreachable` is called when connecting fails for the first time since the last success. */
  constructor(options: ConnectionOptions, onUnreachable: (error: Error) => void) {
    this.#options = options;
    this.#onUnreachable = onUnreachable;
  }

  /** The connection. Rejects with `StorageUnavailable` if connecting fails. */
  get(): MaybePromise<Connection> {
    if (this.#connection?.isOpen) return this.#connection;
    return (this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    }));
  }

  /** True if its last connection was closed because the server did not respond. */
  get isSilent(): boolean {
    return this.#connection?.isSilent ?? false;
  }

  /** Call it with each error of the connection's work. Some errors make the connection unusable. */
  failed(connection: Connection, error: unknown): void {
    if (endsConnection(error)) connection.close();
  }

  /** The next work opens a new connection, unless this one has pending work. */
  closeIfIdle(): void {
    this.#connection?.closeIfIdle();
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  /** Tries twice: an operator who terminates all sessions may also terminate a new one although the server runs. */
  async #connect(): Promise<Connection> {
    try {
      return await Connection.open(this.#options);
    } catch (error) {
      if (!endsNewConnection(error)) throw error;
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
      if (!this.#failure) this.#onUnreachable(reported as Error);
      this.#failure = { error: reported, at: performance.now() };
      throw reported;
    }
  }
}
