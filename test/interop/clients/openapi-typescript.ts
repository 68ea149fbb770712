import createClient from "openapi-fetch";
import type { paths } from "../generated/types";
import { type Connect, exactValue, writeExactly } from "./exact-json";

/** A fetch whose responses are parsed exactly. */
async function exactFetch(request: Request): Promise<Response> {
  const response = await fetch(request);
  return Object.assign(response, { json: async () => JSON.parse(await response.text(), exactValue) as unknown });
}

/** The client returns errors instead of throwing them. */
function dataOf<T>({ data, error }: { data?: T; error?: { code: string } }): T {
  if (data === undefined) throw new Error(error?.code);
  return data;
}

export const connect: Connect = (baseUrl, key) => {
  const options = { baseUrl, headers: { Authorization: `Bearer ${key}` } };
  const plain = createClient<paths>(options);
  const exact = createClient<paths>({ ...options, fetch: exactFetch, bodySerializer: writeExactly });
  const list = async (client: typeof plain, limit: number) =>
    dataOf(await client.GET("/pets", { params: { query: { limit } } }));
  return {
    list: (limit) => list(exact, limit),
    listPlainly: (limit) => list(plain, limit),
    create: async (name, categoryId) => dataOf(await exact.POST("/pets", { body: { name, categoryId } })),
    read: async (petId) => dataOf(await exact.GET("/pets/{petId}", { params: { path: { petId } } })),
  };
};
