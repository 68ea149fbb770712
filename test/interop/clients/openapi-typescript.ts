import createClient from "openapi-fetch";
import type { paths } from "../generated/types";
import { type ClientUnderTest, exactValue, writeExactly } from "./exact-json";

/** A fetch whose answers are parsed exactly. */
async function exactFetch(request: Request): Promise<Response> {
  const response = await fetch(request);
  return Object.assign(response, { json: async () => JSON.parse(await response.text(), exactValue) as unknown });
}

const connect = (base: string, key: string) =>
  createClient<paths>({
    baseUrl: base,
    headers: { Authorization: `Bearer ${key}` },
    fetch: exactFetch,
    bodySerializer: writeExactly,
  });

export const client: ClientUnderTest = {
  async list(base, key) {
    const { data, error } = await connect(base, key).GET("/pets", { params: { query: { limit: 100 } } });
    if (!data) throw new Error(error?.code);
    return data;
  },
  async create(base, key, name, categoryId) {
    const { data, error } = await connect(base, key).POST("/pets", { body: { name, categoryId } });
    if (!data) throw new Error(error?.code);
    return data;
  },
};
