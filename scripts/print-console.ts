// Prints the files of the console as JSON. The build embeds them in the executable.
import { buildConsole } from "../src/app/web/build-console.ts";

console.log(JSON.stringify(await buildConsole()));
