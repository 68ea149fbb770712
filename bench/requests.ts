import { shuffled } from "./rounds.ts";
import type { Request } from "./wrk.ts";

/** The paths and queries of the interface on one server. */
export interface Dialect {
  /** Path of the animals. */
  readonly pets: string;
  /** Animals to spread requests over: their ids are 1 to this number. */
  readonly animals: number;
  /** Query of the first page of available animals. */
  readonly firstPage: string;
  /** Query of the page after an animal; undefined where there are no cursors. */
  readonly pageAfter: ((id: number) => string) | undefined;
}

/** More different requests than this would only fill the load generator's memory. */
export const MAX_REQUESTS = 100_000;

/** Reads of single animals, each once, in no order. */
export function gets({ pets, animals }: Dialect): Request[] {
  return shuffled(someIds(animals)).map((id) => get(`${pets}/${id}`));
}

/** Reads of animals that are not there. */
export function missing({ pets, animals }: Dialect): Request[] {
  return someIds(animals).map((id) => get(`${pets}/${animals + id}`));
}

/** The first page of available animals. */
export function firstPage({ pets, firstPage: query }: Dialect): Request[] {
  return [get(`${pets}?${query}`)];
}

/** Pages of available animals that start after each animal, each once, in no order. */
export function everyPage(dialect: Dialect): Request[] {
  return shuffled(someIds(dialect.animals - 1)).map((id) => pageAfter(dialect, id));
}

/** The page after one animal. */
export function pageAfter({ pets, pageAfter: query }: Dialect, id: number): Request {
  if (!query) throw new Error("This server has no cursors.");
  return get(`${pets}?${query(id)}`);
}

/** New animals. */
export function creates({ pets }: Dialect, count = 1_000, headers?: Request["headers"]): Request[] {
  return Array.from({ length: count }, (_, index) => {
    const body = JSON.stringify({ name: `New animal ${index}`, categoryId: (index % 100) + 1, status: "available" });
    return { method: "POST", path: pets, body, ...(headers && { headers }) };
  });
}

/** The same, each with an idempotency key of its own, as the client sends them. */
export function createsWithKeys(dialect: Dialect): Request[] {
  return creates(dialect, 1_000, { "Idempotency-Key": "{unique}" });
}

/** Of ten requests, six read an animal, three read the first page, and one adds an animal. */
export function mixed(dialect: Dialect): Request[] {
  const reads = gets(dialect).slice(0, 60_000);
  const lists = reads.filter((_, index) => index % 2 === 0).flatMap(() => firstPage(dialect));
  return shuffled([...reads, ...lists, ...creates(dialect, Math.ceil(reads.length / 6))]);
}

function get(path: string): Request {
  return { method: "GET", path };
}

/** Ids from 1 to the number of animals. If there are too many, an evenly spread part of them. */
function someIds(animals: number): number[] {
  const step = Math.max(1, Math.floor(animals / MAX_REQUESTS));
  return Array.from({ length: Math.min(animals, MAX_REQUESTS) }, (_, index) => index * step + 1);
}
