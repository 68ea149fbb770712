import { isDoneWithin } from "../../timing/deadline.ts";
import { encodeCommand, type Reply } from "./resp.ts";
import { ValkeyConnection } from "./valkey-connection.ts";
import type { ValkeyLogin, ValkeyNode } from "./valkey-url.ts";

/** How often a lost connection is tried again, in milliseconds. */
const RETRY = 200;

const ping = encodeCommand("PING");

/** A connection to one server, now and again whenever it is lost. While it is, nothing waits for it. */
export class ValkeyLink {
  readonly node: ValkeyNode;
  readonly #login: ValkeyLogin;
  readonly #silence: number;
  readonly #opened = Promise.withResolvers<void>();
  readonly #retry: Timer;
  #connection: ValkeyConnection | undefined;
  #failure = new Error("There is no connection yet.");
  #isOpening = false;
  #isClosed = false;

  /** Connected to anew after `silence` milliseconds in which the server owes a reply and says nothing. */
  constructor(node: ValkeyNode, login: ValkeyLogin, silence: number) {
    this.node = node;
    this.#login = login;
    this.#silence = silence;
    this.#retry = setInterval(() => void this.#open(), RETRY);
    void this.#open();
  }

  get isOpen(): boolean {
    return this.#connection?.isOpen === true;
  }

  /** True as soon as the connection has been there once, false if that takes longer than a server may be silent. */
  hasOpened(): Promise<boolean> {
    return isDoneWithin(this.#opened.promise, this.#silence);
  }

  /** Sends a command. Rejects at once if there is no connection, and as a connection does. */
  ask(command: string): Promise<Reply> {
    return this.#connection?.ask(command) ?? Promise.reject(this.#failure);
  }

  /** Resolves when the server has answered. */
  ping(): Promise<Reply> {
    return this.ask(ping);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#retry);
    this.#connection?.close();
  }

  async #open(): Promise<void> {
    if (this.#isOpening || this.isOpen) return;
    this.#isOpening = true;
    try {
      this.#connection = await ValkeyConnection.open(this.node, this.#login, this.#silence);
      this.#opened.resolve();
      if (this.#isClosed) this.#connection.close();
    } catch (error) {
      const { host, port } = this.node;
      this.#failure = new Error(`${host}:${port}: ${(error as Error).message}`, { cause: error });
      this.#connection = undefined;
    } finally {
      this.#isOpening = false;
    }
  }
}
