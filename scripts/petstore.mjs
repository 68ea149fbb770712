#!/usr/bin/env node
// The command of the package: `npx ./petstore-VERSION.tgz serve`. The package
// contains the program as one script, dist/main.js.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const fileAt = (path) => fileURLToPath(new URL(path, import.meta.url));
const bundle = fileAt("../dist/main.js");
process.argv.splice(2, 0, existsSync(bundle) ? bundle : fileAt("../src/main.ts"));
await import("./run.mjs");
