import type { KeyEnvironment } from "../../src/domains/keys/api-key.ts";
import { keySettings } from "../../src/domains/keys/api-key.ts";

const cell = keySettings.PETSTORE_CELL.fallback;

/** Where live keys exist. */
export const production: KeyEnvironment = { isProduction: true, cell };
/** Where test keys alone exist. */
export const development: KeyEnvironment = { isProduction: false, cell };
