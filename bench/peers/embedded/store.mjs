/** Opens the store with a driver: the service's own tables and indexes, with the same durability. */
export function openStore(Database, file) {
  const store = new Database(file);
  store.exec("PRAGMA journal_mode = WAL");
  store.exec("PRAGMA synchronous = FULL"); // a commit is on disk before it is acknowledged
  store.exec("PRAGMA foreign_keys = ON");
  store.exec("PRAGMA cache_size = -16000"); // KiB: better-sqlite3's default, Bun's is an eighth
  return store;
}
