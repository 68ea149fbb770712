import { readStream, type StreamState } from "./server-sent-events.ts";

/** A client of a stream that reads everything it receives. */
export class Listener {
  readonly response: Response;
  readonly #abort: AbortController;
  /** Resolves with what ended the stream: undefined for its end, or the error of a lost connection. */
  readonly ended: Promise<unknown>;
  #text = "";
  #waiting: (() => void)[] = [];

  /** Resolves once the response has begun. */
  static async open(url: string, key: string, headers: Record<string, string> = {}): Promise<Listener> {
    const abort = new AbortController();
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${key}`, ...headers },
      signal: abort.signal,
    });
    return new Listener(response, abort);
  }

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.ended = this.#read();
  }

  get text(): string {
    return this.#text;
  }

  get state(): StreamState {
    return readStream(this.#text);
  }

  get ids(): number[] {
    return this.state.events.map(({ id }) => Number(id));
  }

  /** Resolves when the client has received what the condition asks for. Rejects if the stream ends before. */
  async until(isThere: (state: StreamState) => boolean): Promise<StreamState> {
    const early = this.ended.then((why) => {
      if (!isThere(this.state)) throw new Error(`The stream ended (${String(why)}) after:\n${this.#text}`);
    });
    while (!isThere(this.state)) await Promise.race([new Promise<void>((wake) => this.#waiting.push(wake)), early]);
    return this.state;
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(): Promise<unknown> {
    const decoder = new TextDecoder();
    try {
      for await (const bytes of this.response.body as unknown as AsyncIterable<Uint8Array>) {
        this.#text += decoder.decode(bytes, { stream: true });
        for (const wake of this.#waiting.splice(0)) wake();
      }
      return undefined;
    } catch (error) {
      return error;
    }
  }
}
