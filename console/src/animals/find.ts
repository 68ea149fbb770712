import type { Page, Pet, Petstore } from "petstore-client";

const SUGGESTED = 8;

/**
 * Animals whose number or reference a text is, or whose names begin with it: those that are meant exactly come first.
 * Without a text, the newest that are available.
 */
export const findPets = (petstore: Petstore, text: string, limit = SUGGESTED): Promise<Page<Pet>> =>
  petstore.listPets({ ...(text ? { search: text } : { status: "available", sort: "-id" }), limit }).page();
