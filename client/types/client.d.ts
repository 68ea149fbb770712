// Generated from client/src by `npm run derive`.

import type { IdKind } from "./json.js";
import { type Options } from "./options.js";
/** The part that all operations share: sends a call and retries it. */
export declare class Client<Ids extends IdKind> {
    #private;
    constructor(options?: Options<Ids>);
    /**
     * Defines a method for each operation of a table. Each method takes the path parameters, the body, the query and the
     * options, in this order. A row has the path with `*` for parameters, the HTTP method, flags and the name. The flags are
     * `b` (body), `q` (query), `l` (list), `e` (event stream), and the quota unless it is the shop's: `f` (free) or `s`
     * (sandbox).
     * For example, `/pets GETql listPets` is a list with a query, on the quota of the shop.
     */
    protected static define(table: string): void;
}
