// Loaded before all tests. In a short run each property meets the same cases in every run, so that a
// failure points to the change that is tested; a long run looks for new ones.
import { configureGlobal } from "fast-check";
import { isLongRun } from "./test-length.ts";

if (!isLongRun) configureGlobal({ seed: 20_261_121 });
