import { createPet, listPets } from "../generated/orval/client";
import type { ClientUnderTest } from "./exact-json";

declare global {
  interface BigInt {
    /** Without it `JSON.stringify`, which the client uses, refuses bigints. */
    toJSON(): unknown;
  }
}
BigInt.prototype.toJSON = function toJSON() {
  return JSON.rawJSON(this.toString());
};

const authorized = (key: string) => ({ Authorization: `Bearer ${key}` });

/** Its base address is that of the document. */
export const client: ClientUnderTest = {
  async list(_base, key) {
    const response = await listPets({ limit: 100 }, { headers: authorized(key) });
    if (response.status !== 200) throw new Error(`status ${response.status}`);
    return response.data;
  },
  async create(_base, key, name, categoryId) {
    const headers = { ...authorized(key), "Content-Type": "application/json" };
    const response = await createPet({ name, categoryId }, { headers });
    if (response.status !== 201) throw new Error(`status ${response.status}`);
    return response.data;
  },
};
