import { createClient } from "../generated/hey/client";
import { createPet, listPets } from "../generated/hey/sdk.gen";
import { type ClientUnderTest, exactValue, writeExactly } from "./exact-json";

/**
 * A fetch that gives integers which a number cannot hold as strings: the client parses answers with
 * `JSON.parse`, and makes bigints of numbers and strings alike.
 */
async function exactFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  const text = async () =>
    JSON.stringify(JSON.parse(await response.clone().text(), exactValue), (_key, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
  return Object.assign(response, { text });
}

/** `fetch` may be the plain one, to show what it rounds. */
export const connect = (
  base: string,
  key: string,
  fetch: typeof globalThis.fetch = exactFetch as typeof globalThis.fetch,
) => createClient({ baseUrl: base, auth: key, fetch, bodySerializer: writeExactly });

export const client: ClientUnderTest = {
  async list(base, key) {
    const { data } = await listPets({ client: connect(base, key), query: { limit: 100 }, throwOnError: true });
    return data;
  },
  async create(base, key, name, categoryId) {
    const { data } = await createPet({ client: connect(base, key), body: { name, categoryId }, throwOnError: true });
    return data;
  },
};

/** The page through the plain `fetch`. */
export async function listRounded(base: string, key: string): Promise<unknown> {
  return listPets({ client: connect(base, key, globalThis.fetch), throwOnError: true });
}
