import Database from "better-sqlite3";

/** Opens the store: the service's own tables and indexes, with the same durability. */
export function openStore(file) {
  const store = new Database(file, { fileMustExist: true });
  store.pragma("journal_mode = WAL");
  store.pragma("synchronous = FULL"); // a commit is on disk before it is acknowledged
  store.pragma("foreign_keys = ON");
  return store;
}
