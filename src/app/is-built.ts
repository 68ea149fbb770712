/**
 * True in the one-file executable and in the script of the npm package (`scripts/release`): both contain the console,
 * and a contract that was checked.
 */
export const isBuilt = !import.meta.path.endsWith(".ts");
