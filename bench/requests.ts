/** One request as wrk sends it. */
export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  /** Headers beyond those that all requests have. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How requests to one server differ from those to others. */
export interface Dialect {
  /** Animals to spread requests over: their ids are 1 to this number. */
  readonly animals: number;
  /** The cursor of the page of available animals after an id. */
  readonly cursorAfter: (id: number) => string;
}

/** More different requests than this would only fill the load generator's memory. */
export const MAX_REQUESTS = 100_000;
const PAGE = 20;
/** Addresses that wrong keys come from. Each may be refused 60 times a minute before it gets 429. */
const ADDRESSES = 60_000;

const get = (path: string): Request => ({ method: "GET", path });
const page = (limit: number, cursor = "") => get(`/v1/pets?limit=${limit}&status=available${cursor}`);

/** Reads of single animals, each once, in no order. */
export function gets({ animals }: Pick<Dialect, "animals">): Request[] {
  return shuffled(someIds(animals)).map((id) => get(`/v1/pets/${id}`));
}

/** Reads of animals that are not there. */
export function missing({ animals }: Dialect): Request[] {
  return someIds(animals).map((id) => get(`/v1/pets/${animals + id}`));
}

/** The first page of available animals. */
export function firstPage(): Request[] {
  return [page(PAGE)];
}

/** Pages of available animals that start after each animal, each once, in no order. */
export function everyPage({ animals, cursorAfter }: Dialect, limit = PAGE): Request[] {
  return shuffled(someIds(animals - 1)).map((id) => page(limit, `&cursor=${cursorAfter(id)}`));
}

/** New animals, each with an idempotency key of its own, as the client sends them. */
export function creates(count = 1_000): Request[] {
  return Array.from({ length: count }, (_, index) => {
    const body = JSON.stringify({ name: `New animal ${index}`, categoryId: (index % 100) + 1, status: "available" });
    return { method: "POST", path: "/v1/pets", body, headers: { "Idempotency-Key": "{unique}" } };
  });
}

/** Of ten requests, six read an animal, three read the first page, and one adds an animal. */
export function mixed(dialect: Dialect): Request[] {
  const reads = gets(dialect).slice(0, 60_000);
  const lists = reads.filter((_, index) => index % 2 === 0).flatMap(firstPage);
  return shuffled([...reads, ...lists, ...creates(Math.ceil(reads.length / 6))]);
}

/** The same requests from many addresses, named by a trusted proxy. */
export function fromManyAddresses(requests: readonly Request[]): Request[] {
  return requests.map((request, index) => {
    const number = index % ADDRESSES;
    return { ...request, headers: { "X-Forwarded-For": `10.1.${Math.floor(number / 250)}.${(number % 250) + 1}` } };
  });
}

/** Ids from 1 to the number of animals. If there are too many, an evenly spread part of them. */
function someIds(animals: number): number[] {
  const step = Math.max(1, Math.floor(animals / MAX_REQUESTS));
  return Array.from({ length: Math.min(animals, MAX_REQUESTS) }, (_, index) => index * step + 1);
}

/** Deterministic order without pattern, so that each run sends the same requests in the same order. */
export function shuffled<T>(values: readonly T[]): T[] {
  const order = [...values];
  let state = 88_172_645; // xorshift; any seed but 0
  for (let index = order.length - 1; index > 0; index--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (index + 1);
    [order[index], order[other]] = [order[other] as T, order[index] as T];
  }
  return order;
}
