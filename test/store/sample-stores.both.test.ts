// A store of any earlier release opens, shows what it held, and can be changed. Released steps of the schema stay as they are.
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { migrations } from "../../src/app/schema.ts";
import { TestService } from "../harness/service.ts";
import { changedSteps, decode, encode, type SampleStore, sampleFaults, sampleStores } from "../samples/sample-files.ts";
import { engine, makeSample, readAll, storeWith } from "../samples/sample-store.ts";

/** Opens a sample with this release, walks through it and changes it. */
async function expectToServe(sample: SampleStore): Promise<void> {
  expect(changedSteps(sample.steps)).toEqual([]);
  const service = await TestService.start({ store: await storeWith(sample) });
  try {
    const { key, replies } = sample;
    // A later release may show more, but nothing else.
    expect(await readAll(service, key)).toMatchObject(replies);
    const send = (method: string, path: string, body: unknown) => service.call(method, path, { key, body });
    const last = Number((replies["/pets?limit=100"] as { id: number }[]).at(-1)?.id);
    const added = await send("POST", "/pets", { name: "New", categoryId: 1, status: "available" });
    expect([added.status, added.json.id]).toEqual([201, last + 1]);
    expect((await send("PATCH", `/pets/${last}`, { name: "Changed", metadata: { a: "1" } })).status).toBe(200);
    expect((await send("POST", "/store/orders", { petId: last + 1 })).status).toBe(201);
    expect((await send("POST", "/store/orders/2/confirm", {})).json.status).toBe("confirmed");
    expect((await service.call("DELETE", `/pets/${last}`, { key })).status).toBe(204);
    const events = (await service.call("GET", "/events?limit=100", { key })).json as { id: number }[];
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
  } finally {
    await service.stop();
  }
}

describe("a store", () => {
  test("of this release fits into a sample, and can be served from it", async () => {
    const bytes = encode(await makeSample());
    expect(bytes.length).toBeLessThan(50_000);
    const sample = decode(bytes);
    expect(
      Object.values(sample.replies).every((reply) => (Array.isArray(reply) ? reply.length > 0 : reply)),
    ).toBeTrue();
    await expectToServe(sample);
  });

  test.each(sampleStores(engine))("of release %s can be served", async (_, sample) => expectToServe(sample));
});

test("a released migration that was changed or removed is reported", () => {
  const [initial] = migrations;
  if (!initial) throw new TypeError("There is no step.");
  const edited = { ...initial, sqlite: `${initial.sqlite} ` };
  expect([changedSteps([initial], [edited]), changedSteps([initial], [])]).toEqual([[initial.name], [initial.name]]);
  expect(changedSteps([initial], [initial, edited])).toEqual([]);
});

test("a release without samples, or with samples of another schema, is refused", () => {
  expect(sampleFaults(manifest.version)).toEqual([]);
  const faults = ["sqlite", "postgresql"].map((one) => expect.stringContaining(`no store of 0.0.1 on ${one} `));
  expect(sampleFaults("0.0.1")).toEqual(faults);
  const folder = mkdtempSync(join(tmpdir(), "petstore-samples-"));
  const [[, sample] = []] = sampleStores(engine);
  if (!sample) throw new TypeError("There is no sample.");
  const of = (steps: SampleStore["steps"]) => {
    for (const one of ["sqlite", "postgresql"])
      writeFileSync(join(folder, `0.0.1.${one}.json.gz`), encode({ ...sample, steps }));
    return sampleFaults("0.0.1", folder);
  };
  expect(of(migrations)).toEqual([]);
  const edited = migrations.map((step) => Object.assign({}, step, { sqlite: `${step.sqlite} ` }));
  for (const steps of [edited, []]) expect(of(steps)).toEqual(faults);
  rmSync(folder, { recursive: true });
});
