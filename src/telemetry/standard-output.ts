import { write, writeSync } from "node:fs";
import { promisify } from "node:util";

/** The wait before the next attempt to write to a full pipe that does not block, in milliseconds. */
const FULL_PIPE_PAUSE = 10;

/** Writes to standard output on another thread, because a slow reader would block this one. */
export async function writeOutput(text: string): Promise<void> {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray((await promisify(write)(1, rest)).bytesWritten);
    } catch (error) {
      if (!isFull(error)) throw error;
      await Bun.sleep(FULL_PIPE_PAUSE);
    }
  }
}

/** Writes to standard output (1) or standard error (2), and returns when all of it is written. */
export function writeNow(file: 1 | 2, text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(file, rest));
    } catch (error) {
      if (!isFull(error)) throw error;
      Bun.sleepSync(FULL_PIPE_PAUSE);
    }
  }
}

/** True for a full pipe that another program has set not to block. */
function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}
