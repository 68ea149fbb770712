import type { Result } from "./response.ts";

/** A page of a list. `next` is the cursor of the next one, and undefined on the last. */
export type Page<T> = Result<readonly T[]> & { readonly next: string | undefined };

/** A list. Nothing is asked for before it is used: item by item with `for await`, or a page with `page()`. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #load: (cursor?: string) => Promise<Page<T>>;

  constructor(load: (cursor?: string) => Promise<Page<T>>) {
    this.#load = load;
  }

  /** The first page, or the one at the `cursor` that the list was asked for. */
  page(): Promise<Page<T>> {
    return this.#load();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    let page = await this.#load();
    for (;;) {
      yield* page;
      if (page.next === undefined) return;
      page = await this.#load(page.next);
    }
  }
}
