import { createPet, getPet, listPets } from "../generated/orval/client";
import { listPets as listPlainly } from "../generated/orval/plain";
import type { Connect } from "./exact-json";

declare global {
  interface BigInt {
    /** Without it `JSON.stringify`, which the client uses, refuses bigints. */
    toJSON(): unknown;
  }
}
BigInt.prototype.toJSON = function toJSON() {
  return JSON.rawJSON(this.toString());
};

/** The client returns every response. */
function dataOf<T>(response: { status: number; data: unknown }, status: number): T {
  if (response.status !== status) throw new Error(`status ${response.status}`);
  return response.data as T;
}

/** Its base address is that of the document. */
export const connect: Connect = (_base, key) => {
  const headers = { Authorization: `Bearer ${key}` };
  return {
    list: async (limit) => dataOf(await listPets({ limit }, { headers }), 200),
    listPlainly: async (limit) => dataOf(await listPlainly({ limit }, { headers }), 200),
    create: async (name, categoryId) =>
      dataOf(
        await createPet({ name, categoryId }, { headers: { ...headers, "Content-Type": "application/json" } }),
        201,
      ),
    read: async (petId) => dataOf(await getPet(petId, { headers }), 200),
  };
};
