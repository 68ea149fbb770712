// Loaded before all tests. In the short form each property meets the same cases in every run, so that a
// failure points to the change that is tested; the long form looks for new ones.
import { configureGlobal } from "fast-check";
import { longForm } from "./form.ts";

if (!longForm) configureGlobal({ seed: 20_261_121 });
