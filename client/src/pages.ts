import type { Result } from "./response.ts";

/** A page of a list. `next` is the cursor of the next one, and undefined on the last. */
export type Page<T> = Result<readonly T[]> & { readonly next: string | undefined };

/** A list. Nothing is asked for before it is used: item by item with `for await`, or a page with `page()`. */
export interface Pages<T> extends AsyncIterable<T> {
  /** The first page, or the one at the `cursor` that the list was asked for. */
  page(): Promise<Page<T>>;
  [Symbol.asyncIterator](): AsyncGenerator<T, void, void>;
}

export function pagesOf<T>(load: (cursor?: string) => Promise<Page<T>>): Pages<T> {
  return {
    page: () => load(),
    async *[Symbol.asyncIterator]() {
      let cursor: string | undefined;
      do {
        const page = await load(cursor);
        yield* page;
        cursor = page.next;
      } while (cursor);
    },
  };
}
