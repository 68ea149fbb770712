// Builds the service as one executable for this machine, dist/petstore: `npm run build`. `--outfile` names another file.
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildExecutable } from "./release/executable.ts";

const { values } = parseArgs({ options: { outfile: { type: "string" } } });
buildExecutable(resolve(values.outfile ?? join(import.meta.dir, "../dist/petstore")));
