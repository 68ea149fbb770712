// Fails if the console, with all of its files, is larger than it may be: compressed, as browsers load it.
import { brotliCompressSync } from "node:zlib";
import { buildConsole } from "../src/app/web/build-console.ts";

const LARGEST = 64_000;

const sizes = (await buildConsole()).map(({ text }) => brotliCompressSync(text).length);
const total = sizes.reduce((sum, size) => sum + size, 0);
console.log(`The console has ${total} bytes in brotli; it may have ${LARGEST}.`);
if (total > LARGEST) process.exitCode = 1;
