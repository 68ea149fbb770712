// Searches what a run of the tests has recorded, and ends with status 1 if a key, a digest or a path of
// this machine got out: bun scripts/search-evidence.ts FOLDER
import { searchEvidence } from "../test/leaks/search.ts";

const { keys, bytes, leaks } = searchEvidence(process.argv[2] ?? "");
for (const leak of leaks) console.log(`LEAK in ${leak}`);
const megabytes = (bytes / 1e6).toFixed(1);
console.log(`Searched ${megabytes} MB of answers, logs and output for ${keys} keys: ${leaks.length} leaks.`);
process.exitCode = leaks.length > 0 ? 1 : 0;
