/** True in the one-file executable and in the packaged script: both contain the console, and a contract that was checked. */
export const isBuilt = !import.meta.path.endsWith(".ts");
