// Fails if the client, with all operations, is larger than it may be: compressed, as browsers load it.
import { brotliCompressSync } from "node:zlib";
import { clientModule } from "../src/app/web/client-package.ts";

const LARGEST = 6_000;

const { length } = brotliCompressSync(await clientModule(true));
console.log(`The client has ${length} bytes in brotli; it may have ${LARGEST}.`);
if (length > LARGEST) process.exitCode = 1;
