import { builtConsole } from "./console-macro.ts" with { type: "macro" };

/**
 * The files of the console in a built program (see `isBuilt`). A program that runs from its sources must not import this
 * file, because that would build the console at the start.
 */
export const embeddedConsole = builtConsole();
