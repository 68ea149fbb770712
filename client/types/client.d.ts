import type { IdKind } from "./json.js";
import { type Options } from "./options.js";
/** What all operations share: a call is sent until there is a response that no other attempt can better. */
export declare class Client<Ids extends IdKind> {
    #private;
    constructor(options?: Options<Ids>);
    /**
     * Returns a class a method for each operation of a table. Its inputs are path parameters, body, query and options. A row
     * is the path with `*` for parameters, the method with the letters of what the operation has (`b`ody, `q`uery, a
     * `l`ist, `e`vents of a stream, whose quota it has if not that of the shop: `f`ree or `s`andbox), and the name.
     */
    protected static define(table: string): void;
}
