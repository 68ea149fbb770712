// Generated from client/src by `npm run derive`.

/** A response of the service, as its documentation shows it. */
export interface Example {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
}
/** The headers of every response. */
export declare const headersOfAll: Readonly<Record<string, string>>;
/** The success of each operation. In a path, `*` is a parameter. */
export declare const successes: Readonly<Record<string, Example & {
    readonly method: string;
    readonly path: string;
}>>;
/** The error of each code. */
export declare const failures: Readonly<Record<string, Example>>;
