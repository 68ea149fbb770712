// The files in this folder: for each release and engine a store as the release has left it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { migrations } from "../../src/app/schema.ts";
import { digestOf, type Migration } from "../../src/storage/applied-migrations.ts";

export interface SampleStore {
  /** The steps that have made its schema, as they were then. */
  readonly steps: readonly Migration[];
  /** A test key of the shop that it holds. */
  readonly key: string;
  /** What the shop answered, by path. */
  readonly replies: Readonly<Record<string, unknown>>;
  /** The file of an embedded store in base64; for PostgreSQL, the rows of each table as JSON. */
  readonly content: string | Readonly<Record<string, string>>;
}

const engines = ["sqlite", "postgresql"] as const;
export type Engine = (typeof engines)[number];

const endingOf = (engine: Engine) => `.${engine}.json.gz`;

/** The steps of a sample that this release does not have, or has otherwise. A released step must never change. */
export function changedSteps(steps: readonly Migration[], current: readonly Migration[] = migrations): string[] {
  return steps
    .filter((step, index) => !current[index] || digestOf(current[index]) !== digestOf(step))
    .map(({ name }) => name);
}

/** Why a release must not be made yet: it leaves no samples, or samples of another schema than its own. */
export function sampleFaults(release: string, folder = import.meta.dir): string[] {
  return engines.flatMap((engine) => {
    const file = join(folder, `${release}${endingOf(engine)}`);
    const steps = existsSync(file) ? decode(readFileSync(file)).steps : [];
    return steps.length === migrations.length && changedSteps(steps).length === 0
      ? []
      : [`test/samples has no store of ${release} on ${engine} with its schema. Run npm run sample -- ${release}.`];
  });
}

/** The samples of all releases for an engine, by release. */
export function sampleStores(engine: Engine): [release: string, sample: SampleStore][] {
  const ending = endingOf(engine);
  return readdirSync(import.meta.dir)
    .filter((file) => file.endsWith(ending))
    .map((file) => [file.slice(0, -ending.length), decode(readFileSync(join(import.meta.dir, file)))]);
}

/** Keeps a sample of a release. */
export function writeSample(release: string, engine: Engine, sample: SampleStore): string {
  const file = join(import.meta.dir, `${release}${endingOf(engine)}`);
  writeFileSync(file, encode(sample));
  return file;
}

export function encode(sample: SampleStore): Uint8Array {
  return gzipSync(JSON.stringify(sample), { level: 9 });
}

export function decode(bytes: Uint8Array): SampleStore {
  return JSON.parse(gunzipSync(bytes).toString());
}
