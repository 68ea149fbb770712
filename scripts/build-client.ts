// Builds the client's module and its source map into client/dist, for `npm pack` there.
import { join } from "node:path";
import { builtModules } from "../src/app/web/client-package.ts";

for (const [path, text] of await builtModules()) await Bun.write(join(import.meta.dir, "../client", path), text);
