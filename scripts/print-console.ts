// Prints the files of the console as JSON, for the executable, which keeps them.
import { buildConsole } from "../src/app/build-console.ts";

console.log(JSON.stringify(await buildConsole()));
