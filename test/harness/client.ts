/** A response; without `text` where it broke off after its headers. */
export interface ClientResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string | undefined;
}

/** Sends requests with one key to the service between a start and a kill, and counts them as the limits do. */
export class Client {
  readonly base: string;
  readonly #key: string;
  sent = 0;
  /** When responses arrived, in ascending order of `performance.now()`. */
  readonly answeredAt: number[] = [];

  constructor(base: string, key: string) {
    this.base = base;
    this.#key = key;
  }

  /** Sends a request below the base address. Rejects if no response begins. */
  async call(method: string, path: string, body?: string): Promise<ClientResponse> {
    this.sent++;
    const headers = { Authorization: `Bearer ${this.#key}`, "Content-Type": "application/json" };
    const response = await fetch(
      this.base + path,
      body === undefined ? { method, headers } : { method, headers, body },
    );
    this.answeredAt.push(performance.now());
    const text = await response.text().catch(() => undefined);
    return { status: response.status, headers: response.headers, text };
  }
}
