// Writes the sample stores of a release, one of each engine, which later releases open in their tests:
//
//   npm run sample -- 1.0.0
//
// `npm run release` refuses a release without them.
import { SharedPostgres } from "../harness/shared-postgres.ts";
import { onPostgres } from "../harness/test-store.ts";
import { encode, writeSample } from "./sample-files.ts";
import { engine, makeSample } from "./sample-store.ts";

/** Bytes that a sample may have. */
const LARGEST = 50_000;

const [release = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(release)) throw new Error("Usage: npm run sample -- RELEASE, such as 1.0.0");
const sample = await makeSample();
const { length } = encode(sample);
if (length > LARGEST) throw new Error(`The sample has ${length} bytes; it may have ${LARGEST}.`);
console.log(`${writeSample(release, engine, sample)}: ${length} bytes`);
process.exit(onPostgres ? 0 : await writeOnPostgres());

/** Does the same in a separate process, whose tests are on PostgreSQL. Returns its exit status. */
async function writeOnPostgres(): Promise<number> {
  await using postgres = await SharedPostgres.start();
  const env = { ...process.env, TEST_ENGINE: "postgres", ...postgres.environment };
  return await Bun.spawn([process.execPath, import.meta.path, release], { env, stdout: "inherit", stderr: "inherit" })
    .exited;
}
