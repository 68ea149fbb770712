// Adding and deleting several animals in one request.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { logViolations } from "../../../../test/conformance/replay.ts";
import { newKeyIn } from "../../../../test/harness/keys.ts";
import { readExactly } from "../../../../test/harness/ledger.ts";
import { newDataDir, Program } from "../../../../test/harness/program.ts";
import { TestService } from "../../../../test/harness/service.ts";
import { unlimitedQuota } from "../../../../test/harness/unlimited.ts";
import { MINUTE_MS } from "../../../timing/clock.ts";

let service: TestService;
let strict: TestService;
let key: string;
/** The shop of the key, a new one for each test. */
let shop: number;

beforeAll(async () => {
  service = await TestService.start();
  strict = await TestService.start({
    store: service.store,
    clock: service.clock,
    settings: { PETSTORE_STRICT_CATEGORIES: "true" },
  });
});
beforeEach(async () => {
  const made = await service.newAccountWithKey("enterprise");
  key = made.key;
  shop = await service.shop(made.account.id);
});
afterAll(async () => {
  await strict.app.stop();
  await service.stop();
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  service.call(method, path, { key, body, ...(headers && { headers }) });
const importPets = (animals: readonly unknown[], more: object = {}, headers?: Record<string, string>) =>
  call("POST", "/pets/import", { animals, ...more }, headers);
const deletePets = (ids: readonly unknown[]) => call("POST", "/pets/delete", { ids });
const rex = { name: "Rex", categoryId: 1, status: "available" };
const many = (count: number, one: (index: number) => object = () => rex) =>
  Array.from({ length: count }, (_, index) => one(index));
const total = async () => (await call("GET", "/shop")).json.animals.total;
const faultyAt = (faults: readonly number[]) => (index: number) =>
  faults.includes(index) ? { ...rex, name: "" } : rex;

async function expectSoundLog(): Promise<void> {
  expect(await logViolations(shop, (sql) => service.store.rows(sql), readExactly)).toEqual([]);
}

describe("importPets", () => {
  test("adds animals in their order, each with its event, figures and metadata", async () => {
    await call("POST", "/pets", rex);
    const animals = [
      { ...rex, metadata: { shelf: "B" } },
      { name: "Zoë", categoryId: 2 },
      { name: "Tom", categoryId: 1, status: "sold", metadata: {} },
    ];
    const { status, json } = await importPets(animals);
    expect([status, json]).toEqual([
      201,
      {
        animals: [
          { index: 0, id: 2, outcome: "created" },
          { index: 1, id: 3, outcome: "created" },
          { index: 2, id: 4, outcome: "created" },
        ],
        faults: [],
      },
    ]);
    const read = (await call("GET", "/pets?ids=2,3,4")).json;
    expect(read).toEqual([
      { id: 2, ...animals[0] },
      { id: 3, ...animals[1] },
      { id: 4, name: "Tom", categoryId: 1, status: "sold" },
    ]);
    const events = (await call("GET", "/events?type=pet.created")).json.slice(1);
    expect(events.map(({ type, data }: { type: string; data: object }) => [type, data])).toEqual(
      read.map((pet: object) => ["pet.created", pet]),
    );
    const { animals: figures, categories, today } = (await call("GET", "/shop")).json;
    expect([figures, today.added, categories]).toEqual([
      { total: 4, available: 2, pending: 0, sold: 1, withoutStatus: 1 },
      4,
      [
        { categoryId: 1, animals: 3 },
        { categoryId: 2, animals: 1 },
      ],
    ]);
    await expectSoundLog();
  });

  test("adds 10,000 animals in 20 requests", async () => {
    for (let part = 0; part < 20; part++) {
      const { status, json } = await importPets(
        many(500, (index) => ({ name: `Rex ${part} ${index}`, categoryId: index % 7 })),
      );
      expect([status, json.animals.at(-1)]).toEqual([201, { index: 499, id: 500 * (part + 1), outcome: "created" }]);
    }
    expect(await total()).toBe(10_000);
    await expectSoundLog();
  });

  test("reads 512 KiB and no more", async () => {
    const metadata = { notes: "x".repeat(500), more: "y".repeat(400) };
    const animals = many(500, () => ({ ...rex, metadata }));
    const body = JSON.stringify({ animals });
    const filled = `${body.slice(0, -1)}${" ".repeat(512 * 1024 - body.length)}}`;
    expect([filled.length, (await call("POST", "/pets/import", filled)).status]).toEqual([512 * 1024, 201]);
    expect((await call("POST", "/pets/import", `${filled} `)).json).toMatchObject({
      code: "payload_too_large",
      message: "The body is larger than 524288 bytes.",
    });
  });

  test("adds nothing if one has a fault, and tells the first fifty", async () => {
    const one = await importPets(many(3, (index) => ({ ...rex, ...(index === 1 && { nmae: "Rex" }) })));
    expect([one.status, one.json.details]).toEqual([
      400,
      [{ path: "/body/animals/1/nmae", message: "is not a field of an animal; did you mean name?" }],
    ]);
    const all = await importPets(many(500, () => ({ name: "", categoryId: "1", status: "gone" })));
    expect([all.status, all.json.details.length, all.json.details[3].path]).toEqual([400, 50, "/body/animals/1/name"]);
    expect(await total()).toBe(0);
  });

  test.each([
    ["no animal", []],
    ["too many", many(501)],
  ])("refuses %s", async (_, animals) => {
    const { status, json } = await importPets(animals);
    expect([status, json.details[0].path]).toEqual([400, "/body/animals"]);
  });

  test("leaves out those with faults if it is asked to", async () => {
    const { status, json } = await importPets([rex, null, { name: "Tom", categoryId: 2 }, { name: 1 }], {
      onError: "skip",
    });
    expect([status, json]).toEqual([
      201,
      {
        animals: [
          { index: 0, id: 1, outcome: "created" },
          { index: 2, id: 2, outcome: "created" },
        ],
        faults: [
          { index: 1, path: "", message: "must be an object; got null" },
          { index: 3, path: "/categoryId", message: "is required" },
          { index: 3, path: "/name", message: "must be a string; got 1, write it in double quotes" },
        ],
      },
    ]);
    const none = await importPets(many(500, faultyAt([...Array(500).keys()])), { onError: "skip" });
    expect([none.status, none.json.animals, none.json.faults.length]).toEqual([201, [], 500]);
    expect(await total()).toBe(2);
    await expectSoundLog();
  });

  test("looks for categories where they must exist", async () => {
    await call("POST", "/categories", { name: "Dogs", id: 1 });
    const body = { animals: [rex, { ...rex, name: "" }, { ...rex, categoryId: 2 }, rex] };
    const message = "is not the id of a category";
    const refused = await strict.call("POST", "/pets/import", {
      key,
      body: { animals: [rex, { ...rex, categoryId: 2 }] },
    });
    expect([refused.status, refused.json.details]).toEqual([400, [{ path: "/body/animals/1/categoryId", message }]]);
    const { json } = await strict.call("POST", "/pets/import", { key, body: { ...body, onError: "skip" } });
    expect(json).toEqual({
      animals: [
        { index: 0, id: 1, outcome: "created" },
        { index: 3, id: 2, outcome: "created" },
      ],
      faults: [
        { index: 1, path: "/name", message: "must have at least 1 character; it has 0" },
        { index: 2, path: "/categoryId", message },
      ],
    });
  });

  test("keeps a refusal under its Idempotency-Key", async () => {
    const headers = { "Idempotency-Key": "faulty" };
    const refused = await importPets(many(200, faultyAt([120])), {}, headers);
    expect(refused.json.details[0].path).toBe("/body/animals/120/name");
    const again = await importPets(many(200, faultyAt([120])), {}, headers);
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([refused.text, "true"]);
  });

  test("adds once with an Idempotency-Key", async () => {
    const headers = { "Idempotency-Key": "morning" };
    const animals = many(500, faultyAt([7]));
    const added = await importPets(animals, { onError: "skip" }, headers);
    const again = await importPets(animals, { onError: "skip" }, headers);
    expect([again.status, again.text, again.headers.get("idempotent-replayed")]).toEqual([201, added.text, "true"]);
    expect((await importPets(many(500, faultyAt([8])), { onError: "skip" }, headers)).status).toBe(422);
    expect(await total()).toBe(499);
  });

  test("adds once even if the service is killed before it responds", async () => {
    const dataDir = newDataDir();
    let program = await Program.start(dataDir);
    const { key: ofProgram } = await newKeyIn(dataDir, { quota: unlimitedQuota });
    const send = (path: string, body?: object) =>
      fetch(program.base + path, {
        method: body ? "POST" : "GET",
        headers: { Authorization: `Bearer ${ofProgram}`, "Content-Type": "application/json", "Idempotency-Key": "k" },
        ...(body && { body: JSON.stringify(body) }),
      });
    const body = { animals: many(500) };
    for (let round = 0; round < 5; round++) {
      const sent = send("/pets/import", body).catch(() => {}); // its connection is lost
      await Promise.race([sent, Bun.sleep(2 * round)]);
      await program.end("SIGKILL");
      program = await Program.start(dataDir);
    }
    expect((await send("/pets/import", body)).status).toBe(201);
    expect(await (await send("/shop")).json()).toMatchObject({ animals: { total: 500 } });
    await program.end();
  });
});

describe("deletePets", () => {
  test("takes back an import", async () => {
    await call("POST", "/pets", rex);
    const { json } = await importPets(
      many(500, (index) => ({ ...rex, categoryId: index % 3, metadata: { index: `${index}` } })),
    );
    const ids = json.animals.map(({ id }: { id: number }) => id);
    const { status, json: outcome } = await deletePets([...ids.toReversed(), 1_000, -5, ids[0]].slice(0, 500));
    expect([status, outcome]).toEqual([200, { deleted: ids }]);
    const { animals, categories } = (await call("GET", "/shop")).json;
    expect([animals.total, categories]).toEqual([1, [{ categoryId: 1, animals: 1 }]]);
    expect(await service.store.rows(`SELECT id FROM metadata WHERE shop = ${shop}`)).toEqual([]);
    expect((await deletePets(ids)).json).toEqual({ deleted: [] });
    await expectSoundLog();
  });

  test("deletes nothing if orders reserve or have sold some", async () => {
    await importPets(many(4));
    await call("PATCH", "/pets/4", { status: "sold" });
    for (const petId of [2, 3]) await call("POST", "/store/orders", { petId });
    await call("POST", "/store/orders/2/confirm");
    const { status, json } = await deletePets([4, 3, 2, 1, 9]);
    expect([status, json]).toEqual([
      409,
      {
        code: "pets_not_deletable",
        message: "2 animals cannot be deleted, as an order reserves or has sold each.",
        status: 409,
        details: [
          { path: "/body/ids/1", message: "was sold by the order 2" },
          { path: "/body/ids/2", message: "is reserved by the order 1" },
        ],
      },
    ]);
    expect((await deletePets([4, 1])).json).toEqual({ deleted: [1, 4] });
    service.clock.advance(15 * MINUTE_MS); // the reservation ends
    expect((await deletePets([2])).json).toEqual({ deleted: [2] });
    expect((await call("GET", "/store/orders/1")).json.status).toBe("expired");
    await expectSoundLog();
  });
});

describe("animals with more than 512 KiB of metadata together", () => {
  /** 66 of these have 532,290 bytes, and 65 of them 524,225. */
  const large = {
    ...rex,
    metadata: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`k${index}`, '"'.repeat(500)])),
  };
  let ids: number[];

  beforeEach(async () => {
    ids = [];
    for (let part = 0; part < 6; part++) {
      const { json } = await importPets(many(11, (index) => ({ ...large, reference: `${11 * part + index}` })));
      ids.push(...json.animals.map(({ id }: { id: number }) => id));
    }
  });

  test("cannot be deleted at once", async () => {
    const { status, json } = await deletePets(ids);
    expect([status, json]).toEqual([
      413,
      {
        code: "pets_too_large",
        message: "The animals have 532290 bytes of metadata together; 524288 are allowed.",
        status: 413,
      },
    ]);
    expect(await total()).toBe(66);
    expect((await deletePets(ids.slice(1))).json).toEqual({ deleted: ids.slice(1) });
    await expectSoundLog();
  });

  test("cannot be updated at once, but are left out as before", async () => {
    const changed = ids.map((_, index) => ({ name: "Tom", categoryId: 1, reference: `${index}` }));
    for (const onError of [undefined, "skip"]) {
      const { status, json } = await importPets(changed, { onExisting: "update", ...(onError && { onError }) });
      expect([status, json.code]).toEqual([413, "pets_too_large"]);
    }
    expect((await importPets(changed, { onExisting: "skip" })).json.animals[65]).toEqual({
      index: 65,
      id: 66,
      outcome: "skipped",
    });
    expect((await importPets(changed.slice(1), { onExisting: "update" })).json.animals[64].outcome).toBe("updated");
    expect((await call("GET", "/pets?ids=1,66")).json.map(({ name }: { name: string }) => name)).toEqual([
      "Rex",
      "Tom",
    ]);
    await expectSoundLog();
  });
});
