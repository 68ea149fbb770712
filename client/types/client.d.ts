import type { IdKind } from "./json.js";
import { type Options } from "./options.js";
import { type OperationRow } from "./request.js";
/** What all operations share: a call is sent until there is a response that no other attempt can better. */
export declare class Client<Ids extends IdKind> {
    #private;
    constructor(options?: Options<Ids>);
    /** Gives a class a method for each operation. Its inputs are path parameters, body, query and options. */
    protected static define(operations: Readonly<Record<string, OperationRow>>): void;
}
