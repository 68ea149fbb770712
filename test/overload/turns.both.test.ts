// What a shop asks for takes long, and others do not wait for it: proven by the order in which pieces of work run, with a
// clock that only they move.
import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { Pet } from "../../src/domains/pets/pets.schemas.ts";
import { pause, type Read } from "../../src/storage/transaction.ts";
import { SHARE } from "../../src/timing/turns.ts";
import { serviceWith } from "../harness/pets-domain.ts";
import { eventually } from "../harness/program.ts";
import type { TestService } from "../harness/service.ts";

/** Pieces of work after which a shop that was kept waiting has lost. */
const TOO_MANY = 1_000_000;
/** How often each shop must have had its turn. */
const TURNS = 500;

const pet: Pet = { id: 1n, name: "Rex", categoryId: 1n };
let service: TestService;
afterEach(async () => {
  mock.restore();
  await service.stop();
});

test("each shop gets its turns, however many costly requests another sends, and a cheap request comes at once", async () => {
  let now = performance.now();
  const end = now + TOO_MANY * SHARE;
  spyOn(performance, "now").mockImplementation(() => now);
  /** Pieces of each shop since all of them had one, by the id of its key. */
  const pieces = new Map<string, number>();
  const state = { begun: 0, isOver: false };
  service = await serviceWith(function* ({ caller: { keyId }, params: { petId } }): Read<{ body: Pet }> {
    if (petId !== 1n) return { body: pet };
    state.begun++;
    while (!state.isOver && now < end) {
      now += SHARE;
      pieces.set(keyId, (pieces.get(keyId) ?? 0) + 1);
      yield* pause();
    }
    return { body: pet };
  });
  const [busy, less, cheap] = await Promise.all(["busy", "less", "cheap"].map(() => service.newAccountWithKey("pro")));
  const send = (key: string, count: number) =>
    Array.from({ length: count }, () => service.call("GET", "/pets/1", { key }));
  const costly = [...send(busy!.key, 60), ...send(less!.key, 4)];
  await eventually(
    async () => (await service.call("GET", "/pets/2", { key: cheap!.key })).status === 200 && state.begun,
    (begun) => begun === costly.length,
  );
  pieces.clear();
  await eventually(() => pieces.size === 2 && Math.min(...pieces.values()) >= TURNS);
  state.isOver = true;
  const [one = 0, other = 0] = pieces.values();
  expect(Math.abs(one - other)).toBeLessThanOrEqual(2);
  expect(new Set((await Promise.all(costly)).map(({ status }) => status))).toEqual(new Set([200]));
});
