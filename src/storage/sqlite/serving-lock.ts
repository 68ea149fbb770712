import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sqliteCode } from "./database.ts";
import { makeFolder } from "./disk.ts";

/** The process that serves a store. */
export interface ServingProcess {
  readonly pid: number;
  /** Where clients reach it; absent while it starts. */
  readonly address?: string;
}

/** Another process serves the store; `by` is undefined where it has not said who it is. */
export class StoreServed extends Error {
  override readonly name = "StoreServed";
  readonly by: ServingProcess | undefined;

  constructor(by: ServingProcess | undefined) {
    super("Another process serves the store.");
    this.by = by;
  }
}

/**
 * The right to serve the store of a folder, which one process has at a time. It is SQLite's lock of an empty file beside
 * the store: the system itself gives it back when the process ends, however that happens, and SQLite takes it on every
 * system. Commands that work alongside the service do not need it.
 */
export class ServingLock {
  readonly #lock: Database;
  readonly #note: string;

  /** Takes the lock. Throws `StoreServed` where another process has it, and any other error where it cannot be taken. */
  constructor(folder: string) {
    this.#note = join(folder, "petstore.lock.json");
    makeFolder(folder);
    this.#lock = new Database(join(folder, "petstore.lock"), { create: true });
    try {
      this.#lock.run("BEGIN EXCLUSIVE"); // and never ended: the file stays empty
    } catch (error) {
      this.#lock.close();
      throw sqliteCode(error).startsWith("SQLITE_BUSY") ? new StoreServed(readNote(this.#note)) : error;
    }
    this.announce({ pid: process.pid });
  }

  /** Says who has the lock, for the message to the next process that wants it. */
  announce(by: ServingProcess): void {
    try {
      writeFileSync(this.#note, JSON.stringify(by));
    } catch {
      // A full disk, for example. The lock holds all the same.
    }
  }

  /** Returns the lock back. */
  release(): void {
    this.#lock.close();
  }
}

function readNote(file: string): ServingProcess | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as ServingProcess;
  } catch {
    return undefined; // not there, or half written
  }
}
