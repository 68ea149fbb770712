// The checks that replay a log find what is wrong with it.
import { expect, test } from "bun:test";
import { type LoggedEvent, Replay } from "./replay.ts";

const rex = { id: "1", name: "Rex", categoryId: "1" };
const created: LoggedEvent = { id: "1", type: "pet.created", subject: { id: "1" }, data: rex };
const sold: LoggedEvent = {
  id: "2",
  type: "pet.updated",
  subject: { id: "1" },
  data: { ...rex, status: "sold" },
  previous: { status: null },
};

function violationsOf(...events: LoggedEvent[]): number {
  const replay = new Replay();
  for (const event of events) replay.add(event);
  return replay.violations.length;
}

test("a valid log has no violations and yields the resources", () => {
  const replay = new Replay();
  for (const event of [created, sold]) replay.add(event);
  expect([replay.violations, replay.all("pet"), replay.length]).toEqual([[], [{ ...rex, status: "sold" }], 2]);
});

test("metadata is replayed pair by pair", () => {
  const replay = new Replay();
  const paired = { ...rex, metadata: { a: "1", b: "2" } };
  const changes: LoggedEvent[] = [
    { ...created, data: paired },
    { ...sold, data: { ...rex, metadata: { a: "1", c: "3" } }, previous: { metadata: { b: "2", c: null } } },
    { ...sold, id: "3", data: rex, previous: { metadata: { a: "1", c: "3" } } },
    { ...sold, id: "4", data: paired, previous: { metadata: null } },
  ];
  for (const event of changes) replay.add(event);
  expect([replay.violations, replay.all("pet")]).toEqual([[], [paired]]);
});

test.each([
  [
    "another pair before",
    [
      { ...created, data: { ...rex, metadata: { a: "1" } } },
      { ...sold, data: rex, previous: {} },
    ],
  ],
  ["a gap", [created, { ...sold, id: "3" }]],
  ["a change that is told twice", [created, sold, { ...sold, id: "3" }]],
  ["a resource that is created twice", [created, { ...created, id: "2" }]],
  ["another state before", [created, { ...sold, previous: { status: "available" } }]],
  ["a change of what is not there", [{ ...sold, id: "1" }]],
  ["the deletion of another state", [created, { id: "2", type: "pet.deleted", subject: { id: "1" }, previous: {} }]],
] as const)("the replay reports %s", (_, events) => {
  expect(violationsOf(...events)).toBe(1);
});
