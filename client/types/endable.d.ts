// Generated from client/src by `npm run derive`.

/**
 * A generator whose `return` and `throw` take effect at once. Those of an async generator wait for the `next` that was
 * called before them, which can wait for as long as nothing happens in the shop. `items` must end with its signal.
 */
export declare function endable<T>(parent: AbortSignal | undefined, items: (signal: AbortSignal) => AsyncIterable<T>): AsyncGenerator<T, void, void>;
