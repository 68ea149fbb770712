import type { Socket } from "bun";
import { encodeCommand, type Reply, ReplyError, ReplyReader, type Word } from "./resp.ts";
import type { ValkeyLogin, ValkeyNode } from "./valkey-url.ts";

/** How often it is looked whether a server is silent, for each time that it may be. */
const LOOKS = 4;

/** Somebody who waits for a reply. */
interface Asker {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One connection to one server, from when it is there until it is lost. The commands of one turn of the event
 * loop are sent together, without waiting for the replies to those before.
 */
export class ValkeyConnection {
  readonly #askers: Asker[] = [];
  readonly #reader = new ReplyReader();
  readonly #watch: Timer;
  readonly #connected = Promise.withResolvers<void>();
  #socket: Socket | undefined;
  #unsent = "";
  /** What the system had no room for. */
  #held: Uint8Array | undefined;
  #willSend = false;
  #received = 0;
  #end: Error | undefined;

  /**
   * Connects and logs in. Rejects if that fails, or if the server is silent for `silence` milliseconds or
   * a little more: after as long a silence while it owes a reply, the connection is given up later too.
   */
  static async open(node: ValkeyNode, login: ValkeyLogin, silence: number): Promise<ValkeyConnection> {
    const connection = new ValkeyConnection(silence);
    try {
      await connection.#connect(node, login.isTls);
      await Promise.all(greeting(login).map((words) => connection.ask(encodeCommand(...words))));
      return connection;
    } catch (thrown) {
      connection.close();
      const error = thrown as Error;
      // A server that does not know AUTH quotes the password: "unknown command 'AUTH', with args beginning with: …".
      error.message = error.message.replace(/, with args .*/s, "");
      throw error;
    }
  }

  private constructor(silence: number) {
    this.#connected.promise.catch(() => {}); // whoever opens it is told
    let received = 0;
    let looks = 0;
    this.#watch = setInterval(() => {
      const isOwed = this.#askers.length > 0 || !this.#socket;
      looks = isOwed && received === this.#received ? looks + 1 : 0;
      received = this.#received;
      if (looks > LOOKS) this.#endWith(new Error("The server was silent for too long."));
    }, silence / LOOKS);
    this.#watch.unref();
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /**
   * Sends a command. Rejects with a `ReplyError` if the server refuses it, with another error if the connection
   * is lost.
   */
  ask(command: string): Promise<Reply> {
    if (this.#end) return Promise.reject(this.#end);
    this.#unsent += command;
    if (!this.#willSend) {
      this.#willSend = true;
      setImmediate(this.#send);
    }
    return new Promise((resolve, reject) => {
      this.#askers.push({ resolve, reject });
    });
  }

  /** Ends the connection. What was not answered is rejected. */
  close(): void {
    this.#endWith(new Error("The connection was closed."));
  }

  /** Until the socket is there, and the server has shown over TLS who it is. */
  #connect({ host, port }: ValkeyNode, isTls: boolean): Promise<void> {
    const begin = (socket: Socket, failure?: Error | null) => {
      if (this.#socket) return; // TLS may shake hands again
      if (failure || this.#end) return this.#endWith(failure ?? new Error("It took too long to connect."), socket);
      this.#socket = socket;
      this.#connected.resolve();
    };
    const opening = Bun.connect({
      hostname: host,
      port,
      tls: isTls,
      socket: {
        open: (socket) => void (isTls || begin(socket)),
        handshake: (socket, isTrusted, error) => begin(socket, isTrusted ? null : (error ?? new Error("No trust."))),
        data: (_socket, bytes) => this.#receive(bytes),
        drain: () => this.#drain(),
        close: (_socket, error) => this.#endWith(error ?? new Error("The server has closed the connection.")),
        error: (_socket, error) => this.#endWith(error),
        connectError: (_socket, error) => this.#endWith(error),
      },
    });
    opening.catch(() => {}); // told to connectError
    return this.#connected.promise;
  }

  readonly #send = (): void => {
    this.#willSend = false;
    if (this.#held || this.#end) return; // until there is room again
    const bytes = Buffer.from(this.#unsent);
    this.#unsent = "";
    this.#write(bytes);
  };

  #write(bytes: Uint8Array): void {
    const written = Math.max(0, this.#socket?.write(bytes) ?? 0);
    this.#held = written < bytes.length ? bytes.subarray(written) : undefined;
  }

  #drain(): void {
    if (this.#held) this.#write(this.#held);
    if (this.#unsent !== "") this.#send();
  }

  #receive(bytes: Uint8Array): void {
    try {
      const replies = this.#reader.read(bytes);
      this.#received += replies.length;
      const askers = this.#askers.splice(0, replies.length);
      for (let index = 0; index < askers.length; index++) this.#settle(askers[index] as Asker, replies[index] as Reply);
      // Nobody could tell any more whose the next one is.
      if (askers.length < replies.length) throw new Error("The server answered what it was not asked.");
    } catch (error) {
      this.#endWith(error as Error);
    }
  }

  #settle({ resolve, reject }: Asker, reply: Reply): void {
    if (!(reply instanceof ReplyError)) return resolve(reply);
    reject(reply);
    // It has become a replica: its address may already lead to the server that took its place.
    if (reply.message.startsWith("READONLY ")) this.#endWith(reply);
  }

  #endWith(error: Error, socket = this.#socket): void {
    const isFirst = this.#end === undefined; // the socket tells of its end while it is being ended
    this.#end ??= error;
    socket?.terminate();
    if (!isFirst) return;
    clearInterval(this.#watch);
    this.#connected.reject(error);
    for (const { reject } of this.#askers.splice(0)) reject(error);
  }
}

/** What is said first. The last one is refused while a server still reads its data. */
function greeting({ user, password, database }: ValkeyLogin): (readonly Word[])[] {
  return [
    ...(user === "" && password === "" ? [] : [user === "" ? ["AUTH", password] : ["AUTH", user, password]]),
    ...(database === 0 ? [] : [["SELECT", database]]),
    ["PING"],
  ];
}
