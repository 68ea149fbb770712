import { useState } from "preact/hooks";

let last = 0;
/** An id for an element, unique in the page. Preact's own also suits pages that a server renders, and is larger. */
export const useId = (): string => useState(() => `id${++last}`)[0];
