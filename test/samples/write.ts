// Writes the sample store of a release, which later releases open in their tests:
//
//   npm run sample -- 1.0.0
//
// Once for each engine; for PostgreSQL as in `npm run test:engines`, with TEST_ENGINE=postgres.
import { encode, makeSample, writeSample } from "./sample-store.ts";

/** Bytes that a sample may have. */
const LARGEST = 50_000;

const [release = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(release)) throw new Error("Usage: npm run sample -- RELEASE, such as 1.0.0");
const sample = await makeSample();
const { length } = encode(sample);
if (length > LARGEST) throw new Error(`The sample has ${length} bytes; it may have ${LARGEST}.`);
console.log(`${writeSample(release, sample)}: ${length} bytes`);
process.exit(0);
