import { Client, type ClientResponse } from "./client.ts";
import { eventually } from "./program.ts";

interface Banned {
  readonly key: string;
  /** Unix time of the end, in seconds. */
  readonly until: number;
}

/** Keys that were told that they are banned: each must be so, until the moment that it was told. */
export class Bans {
  readonly violations: string[] = [];
  readonly #banned: Banned[] = [];

  /** Goes on with requests that are denied until the key is banned. Rejects if the service is gone. */
  async provoke(base: string, key: string): Promise<void> {
    const client = new Client(base, key);
    const { headers } = await eventually(() => client.call("GET", "/pets?limit=1"), isBan);
    this.#banned.push({ key, until: Number(headers.get("x-ratelimit-reset")) });
  }

  /** Asks for each ban that holds for some seconds more. */
  async check(base: string): Promise<void> {
    const holding = this.#banned.filter(({ until }) => until > Date.now() / 1000 + 5);
    for (const { key, until } of holding) {
      const response = await new Client(base, key).call("GET", "/pets?limit=1");
      const found = Number(response.headers.get("x-ratelimit-reset"));
      if (!isBan(response)) this.violations.push(`a ban until ${until} is gone: ${response.status}`);
      else if (Math.abs(found - until) > 1) this.violations.push(`a ban until ${until} ends at ${found} after a kill`);
    }
  }

  get count(): number {
    return this.#banned.length;
  }
}

function isBan({ status, text = "" }: ClientResponse): boolean {
  return status === 429 && text.includes('"key_banned"');
}
