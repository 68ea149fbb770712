// Builds the client's modules into client/dist and its type declarations into client/types, for `npm pack` there.
import { join } from "node:path";
import { builtFiles } from "../src/app/web/client-package.ts";

for (const [path, text] of await builtFiles()) await Bun.write(join(import.meta.dir, "../client", path), text);
