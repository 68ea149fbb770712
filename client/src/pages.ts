import { endable } from "./endable.ts";
import type { Result } from "./response.ts";

/** A page of a list. `next` is the cursor of the next page, undefined on the last one. */
export type Page<T> = Result<readonly T[]> & { readonly next: string | undefined };

/** A list, which is fetched when it is read: item by item with `for await`, or one page with `page()`. */
export interface Pages<T> extends AsyncIterable<T> {
  /** The first page, or the page at the `cursor` of the query. */
  page(): Promise<Page<T>>;
  /** The items from there on, at most `max`. */
  toArray(options: { readonly max: number }): Promise<T[]>;
  [Symbol.asyncIterator](): AsyncGenerator<T, void, void>;
}

export function pagesOf<T>(
  parent: AbortSignal | undefined,
  load: (signal: AbortSignal | undefined, cursor?: string) => Promise<Page<T>>,
): Pages<T> {
  const items = () =>
    endable(parent, async function* read(signal) {
      let cursor: string | undefined;
      do {
        const page = await load(signal, cursor);
        yield* page;
        cursor = page.next;
      } while (cursor);
    });
  return {
    page: () => load(parent),
    async toArray({ max }) {
      if (max === undefined) throw new TypeError("`max` is undefined.");
      const list: T[] = [];
      if (max > 0) for await (const item of items()) if (list.push(item) >= max) break;
      return list;
    },
    [Symbol.asyncIterator]: items,
  };
}
