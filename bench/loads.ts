import { generateApiKey } from "../src/domains/keys/api-key.ts";
import { creates, type Dialect, everyPage, firstPage, gets, mixed, type Request } from "./requests.ts";

/** What is sent to all servers. */
export interface Load {
  readonly name: string;
  readonly title: string;
  readonly requests: (dialect: Dialect, round: number) => readonly Request[];
  readonly connections?: number;
  /** True if the server without keys and limits can answer it, too. */
  readonly needsNoKeys: boolean;
  /** The key of all requests, which are then refused: that of an account without requests left, or an unknown one. */
  readonly refusedKey?: "used up" | "unknown";
  /** By how much the service must be ahead of the best peer: in CPU time per response, and in responses per second. */
  readonly goal: { readonly cpu?: number; readonly rate: number };
}

const same = (lead: number) => ({ cpu: lead, rate: lead });

/** In the order in which they are sent: refusals last, because they use up the limit of their address. */
export const loads: readonly Load[] = [
  { name: "get", title: "one animal", requests: gets, needsNoKeys: true, goal: same(1.8) },
  { name: "first-page", title: "first page", requests: firstPage, needsNoKeys: true, goal: same(2) },
  {
    name: "pages",
    title: "unread pages",
    // With another number of animals in each round, no page has been read before.
    requests: (dialect, round) => everyPage(dialect, 17 + (round % 8)),
    needsNoKeys: true,
    goal: same(1.9),
  },
  { name: "mixed", title: "nine reads, one create", requests: mixed, needsNoKeys: true, goal: same(2) },
  { name: "create", title: "creates", requests: () => creates(), needsNoKeys: true, goal: { cpu: 5, rate: 8 } },
  {
    name: "single",
    title: "one create at a time",
    requests: () => creates(),
    connections: 1,
    needsNoKeys: true,
    goal: { rate: 1 },
  },
  {
    name: "used-up",
    title: "429, account used up",
    requests: gets,
    needsNoKeys: false,
    refusedKey: "used up",
    goal: same(2),
  },
  {
    name: "unknown-key",
    title: "429, unknown keys of an address",
    requests: gets,
    needsNoKeys: false,
    refusedKey: "unknown",
    goal: same(2),
  },
];

/** Those of many processes. Their servers all run on two cores, with PostgreSQL, Valkey and the load. */
export const sharedLoads = loads.filter(({ name }) => name !== "single" && name !== "unknown-key");

const unknown = generateApiKey("live");

/** The key that a load sends. */
export function keyOf({ refusedKey }: Load, [key = "", usedUp = ""]: readonly string[]): string {
  return refusedKey === undefined ? key : refusedKey === "unknown" ? unknown : usedUp;
}

/** The requests of a load to a server of this dialect. Those that are the same in all rounds are made once. */
export function requestsOf({ name, requests }: Load, dialect: Dialect): (round: number) => readonly Request[] {
  if (name === "pages") return (round) => requests(dialect, round);
  const once = requests(dialect, 0);
  return () => once;
}
