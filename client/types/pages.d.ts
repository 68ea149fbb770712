// Generated from client/src by `npm run derive`.

import type { Result } from "./response.js";
/** A page of a list. `next` is the cursor of the next page, undefined on the last one. */
export type Page<T> = Result<readonly T[]> & {
    readonly next: string | undefined;
};
/** A list, which is fetched when it is read: item by item with `for await`, or one page with `page()`. */
export interface Pages<T> extends AsyncIterable<T> {
    /** The first page, or the page at the `cursor` of the query. */
    page(): Promise<Page<T>>;
    /** The items from there on, at most `max`. */
    toArray(options: {
        readonly max: number;
    }): Promise<T[]>;
    [Symbol.asyncIterator](): AsyncGenerator<T, void, void>;
}
export declare function pagesOf<T>(parent: AbortSignal | undefined, load: (signal: AbortSignal | undefined, cursor?: string) => Promise<Page<T>>): Pages<T>;
