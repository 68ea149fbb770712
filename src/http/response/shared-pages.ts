import type { ShopNumber } from "../../contract/caller.ts";
import type { Failure } from "../../contract/errors.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import type { Store } from "../interfaces.ts";
import type { Rendered } from "./response.ts";

/** Characters of all cached pages, and of those of one shop, so that a busy shop does not evict the pages of all others. */
const CAPACITY = 32 * 1024 * 1024;
export const SHOP_CAPACITY = CAPACITY / 16;
/** What a page takes besides its texts, in characters. */
const PAGE_OVERHEAD = 200;
/** Of how many requests it is remembered that they were made. */
const REMEMBERED = 65_536;

/** The cached pages of one shop, all of one version of it. */
interface ShopPages {
  readonly version: number;
  readonly byRequest: Map<string, Rendered>;
  size: number;
}

/**
 * Pages that several requests share. If the store knows the versions of shops, a page that lasts is cached until the
 * version of its shop is raised; from its second request on, so that reading a whole list once does not fill the memory.
 * Otherwise, equal requests of one turn of the event loop share one page.
 */
export class SharedPages {
  readonly #store: Pick<Store, "versionOf">;
  /** Those that were cached first are dropped first. */
  readonly #shops = new Map<number, ShopPages>();
  #size = 0;
  /** Hashes of requests that were made. A request is in the slot of its hash until another one takes it. */
  readonly #requested = new Uint32Array(REMEMBERED);
  /** The pages that are read at the end of this turn of the event loop. */
  #ofTurn = new Map<string, Promise<Rendered | Failure>>();
  #turnEnd: Promise<void> | undefined;

  constructor(store: Pick<Store, "versionOf">) {
    this.#store = store;
  }

  /** The page that a request gets. Requests of the same name, among those of all shops, must ask for the same page. */
  get(shop: ShopNumber, request: string, read: () => MaybePromise<Rendered | Failure>) {
    const version = this.#store.versionOf(shop);
    if (version === undefined) return this.#sharedInTurn(request, read);
    const known = this.#shops.get(shop);
    const found = known?.version === version ? known.byRequest.get(request) : undefined;
    return (
      found ??
      whenReady(read(), (page) => {
        const isCurrent = !("error" in page) && page.lasts && this.#store.versionOf(shop) === version;
        if (isCurrent && this.#isRepeated(request)) this.#keep(shop, version, request, page);
        return page;
      })
    );
  }

  /** The read starts after the turn, so it sees everything that was written before any of the requests. */
  #sharedInTurn(request: string, read: () => MaybePromise<Rendered | Failure>): Promise<Rendered | Failure> {
    let page = this.#ofTurn.get(request);
    if (!page) {
      this.#turnEnd ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        // Not `clear`: a map keeps cleared entries alive until the next full garbage collection.
        this.#ofTurn = new Map();
        this.#turnEnd = undefined;
      });
      page = this.#turnEnd.then(read);
      this.#ofTurn.set(request, page);
    }
    return page;
  }

  #isRepeated(request: string): boolean {
    const hash = Bun.hash.xxHash32(request);
    const slot = hash % REMEMBERED;
    const isRepeated = this.#requested[slot] === hash;
    this.#requested[slot] = hash;
    return isRepeated;
  }

  #keep(shop: number, version: number, request: string, page: Rendered): void {
    const size = PAGE_OVERHEAD + request.length + page.text.length + page.link.length;
    let known = this.#shops.get(shop);
    if (known?.version !== version || known.size + size > SHOP_CAPACITY) {
      this.#drop(shop);
      this.#shops.set(shop, (known = { version, byRequest: new Map(), size: 0 }));
    }
    known.byRequest.set(request, page);
    known.size += size;
    this.#size += size;
    for (const oldest of this.#shops.keys()) {
      if (this.#size <= CAPACITY) break;
      this.#drop(oldest);
    }
  }

  #drop(shop: number): void {
    this.#size -= this.#shops.get(shop)?.size ?? 0;
    this.#shops.delete(shop);
  }
}
