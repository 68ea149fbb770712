import { createClient } from "../generated/hey/client";
import { createPet, getPet, listPets, streamEvents } from "../generated/hey/sdk.gen";
import { type Connect, exactValue, writeExactly } from "./exact-json";

/**
 * A fetch that gives integers which a number cannot hold as strings: the client parses responses with
 * `JSON.parse`, and makes bigints of numbers and strings alike.
 */
async function exactFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  const asText = (...entry: Parameters<typeof exactValue>) => {
    const value = exactValue(...entry);
    return typeof value === "bigint" ? String(value) : value;
  };
  const text = async () => JSON.stringify(JSON.parse(await response.clone().text(), asText));
  return Object.assign(response, { text });
}

export const connect: Connect = (baseUrl, key) => {
  const plain = createClient({ baseUrl, auth: key });
  const fetch = exactFetch as typeof globalThis.fetch;
  const exact = createClient({ baseUrl, auth: key, fetch, bodySerializer: writeExactly });
  const list = async (client: typeof plain, limit: number) =>
    (await listPets({ client, query: { limit }, throwOnError: true })).data;
  return {
    list: (limit) => list(exact, limit),
    listPlainly: (limit) => list(plain, limit),
    create: async (name, categoryId) =>
      (await createPet({ client: exact, body: { name, categoryId }, throwOnError: true })).data,
    read: async (petId) => (await getPet({ client: exact, path: { petId }, throwOnError: true })).data,
    async *follow(signal) {
      const { stream } = await streamEvents({ client: plain, query: { after: 0n }, signal });
      for await (const { id } of stream) yield BigInt(id);
    },
  };
};
