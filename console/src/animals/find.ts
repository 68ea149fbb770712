import type { Page, Pet, Petstore } from "petstore-client";

const SUGGESTED = 8;

/** The beginning of a text, as long as the service takes one for a search. */
export const searchText = (text: string): string => Array.from(text).slice(0, 64).join("");

/**
 * Animals whose number or reference a text is, or whose names begin with it: those that are meant exactly come first.
 * Without a text, the newest that are available.
 */
export const findPets = (petstore: Petstore, text: string, limit = SUGGESTED): Promise<Page<Pet>> =>
  petstore.listPets({ ...(text ? { search: searchText(text) } : { status: "available", sort: "-id" }), limit }).page();
