import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { makeFolder } from "../../files/durable-files.ts";
import { isBusy } from "./database.ts";

/** The process that serves a store. */
export interface ServingProcess {
  readonly pid: number;
  /** Its base URL, which may be that of a proxy, and where it listens; absent while it starts. */
  readonly address?: string;
  readonly host?: string;
  readonly port?: number;
}

/** Another process serves the store. `by` is undefined if that process is unknown. */
export class StoreServed extends Error {
  override readonly name = "StoreServed";
  readonly by: ServingProcess | undefined;

  constructor(by: ServingProcess | undefined) {
    super("Another process serves the store.");
    this.by = by;
  }
}

/**
 * A lock that lets only one process serve a store. It is an SQLite lock on an empty file next to the
 * store. SQLite supports it on every system, and the operating system releases it however the process ends. Commands
 * that run while the service runs do not need it.
 */
export class ServingLock {
  readonly #lock: Database;
  readonly #note: string;

  /** Takes the lock of a store file. Throws `StoreServed` if another process has it, and other errors if locking fails. */
  constructor(store: string) {
    const file = lockOf(store);
    this.#note = noteOf(store);
    makeFolder(dirname(store));
    this.#lock = new Database(file, { create: true });
    try {
      // Never committed, so the file stays empty. Not EXCLUSIVE: it fails while another process only reads the file, so
      // processes that start at the same moment could refuse each other.
      this.#lock.run("BEGIN IMMEDIATE");
    } catch (error) {
      this.#lock.close();
      throw isBusy(error) ? new StoreServed(servedBy(store)) : error;
    }
    this.announce({ pid: process.pid });
  }

  /** Writes down who has the lock, for the error message of the next process that wants it, and for commands. */
  announce(by: ServingProcess): void {
    try {
      writeFileSync(this.#note, JSON.stringify(by));
    } catch {
      // A full disk, for example. The lock works without the note.
    }
  }

  release(): void {
    this.#lock.close();
  }
}

function lockOf(store: string): string {
  const { dir, name } = parse(store);
  return join(dir, `${name}.lock`);
}

function noteOf(store: string): string {
  return `${lockOf(store)}.json`;
}

/** The process that serves a store file, or was the last one to do so. */
export function servedBy(store: string): ServingProcess | undefined {
  try {
    return JSON.parse(readFileSync(noteOf(store), "utf8")) as ServingProcess;
  } catch {
    return undefined; // missing or incomplete
  }
}
