import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * What one run of the tests made and saw. Test processes that run in parallel append to the same files of a folder,
 * which is searched when the run has ended.
 */
export class Evidence {
  readonly #folder: string;
  readonly #descriptors = new Map<string, number>();
  readonly #keys = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** An API key that was made or sent. */
  key(key: string): void {
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#append("keys", key);
  }

  /** What a service answered: its status, headers and body, or bytes as they came. */
  response(text: string): void {
    this.#append("responses", text);
  }

  /** Lines of the log of a service that ran inside the tests. */
  log(lines: string): void {
    this.#append("log", lines);
  }

  /** Takes what a process writes, as it comes. The first line of its file tells the command. */
  process(command: readonly string[]): (text: string) => void {
    const file = join(this.#folder, `process-${crypto.randomUUID()}`);
    let descriptor = openSync(file, "a");
    writeSync(descriptor, `${JSON.stringify(command)}\n`);
    closeSync(descriptor); // there are thousands of them in a long run
    return (text) => {
      descriptor = openSync(file, "a");
      writeSync(descriptor, text);
      closeSync(descriptor);
    };
  }

  #append(name: string, text: string): void {
    let descriptor = this.#descriptors.get(name);
    if (descriptor === undefined) {
      descriptor = openSync(join(this.#folder, name), "a");
      this.#descriptors.set(name, descriptor);
    }
    writeSync(descriptor, `${text}\n`);
  }
}

/** The evidence of this run, where `npm test` has asked for it. */
export const evidence = process.env["TEST_EVIDENCE"] ? new Evidence(process.env["TEST_EVIDENCE"]) : undefined;
