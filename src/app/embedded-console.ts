import { builtConsole } from "./console-macro.ts" with { type: "macro" };

/** The files of the console in the one-file executable. Only that imports it: elsewhere it would build them at the start. */
export const embeddedConsole = builtConsole();
