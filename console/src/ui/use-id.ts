import { useState } from "preact/hooks";

let last = 0;
/** An id for an element, unique in the page. Preact's `useId` also supports rendering on a server, and is larger. */
export const useId = (): string => useState(() => `id${++last}`)[0];
