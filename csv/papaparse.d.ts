// What is used of papaparse. Its published types would bring those of Node into the console.
declare module "papaparse" {
  export interface Parsed {
    readonly data: string[][];
    /** `row` is the place in `data`; that of an incomplete record is beyond it. */
    readonly errors: readonly { readonly code: "MissingQuotes" | "InvalidQuotes"; readonly row: number }[];
    /** `cursor` is the end of the last complete record. */
    readonly meta: { readonly cursor: number };
  }
  export class Parser {
    constructor(form: { readonly delimiter: string; readonly newline: string; readonly quoteChar: string });
    parse(text: string, start: number, leavesLast: boolean): Parsed;
  }
  const papaparse: { readonly Parser: typeof Parser };
  export default papaparse;
}
