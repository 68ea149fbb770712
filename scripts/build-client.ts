// Builds the client's module into client/dist, for `npm pack` there.
import { join } from "node:path";
import { clientModule } from "../src/app/web/client-package.ts";

await Bun.write(join(import.meta.dir, "../client/dist/index.js"), await clientModule(false));
