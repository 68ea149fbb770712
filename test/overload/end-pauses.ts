// Loaded before an export by a test: at SIGUSR2, its reader has paused for as long as it may.
import { STREAM_IDLE } from "../../src/storage/errors.ts";

const { setTimeout } = globalThis;
globalThis.setTimeout = ((run: () => void, delay: number) => {
  if (delay === STREAM_IDLE) process.once("SIGUSR2", run);
  return setTimeout(run, delay);
}) as typeof setTimeout;
