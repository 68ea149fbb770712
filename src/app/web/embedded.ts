import { builtConsole } from "./build-console.ts" with { type: "macro" };
import { clientSources, clientTypes } from "./built.ts" with { type: "macro" };

// What a built program holds (see `isBuilt`). A program that runs from its sources must not import this file: that would
// build the console at the start, and Bun runs no macro in a folder whose path has a quote.
export const embeddedClient = clientSources();
export const embeddedTypes = clientTypes();
export const embeddedConsole = builtConsole();
