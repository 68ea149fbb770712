// Clients that search a long log for few events.

import { expect, test } from "bun:test";
import { endlessSearch } from "../../../test/harness/endless-search.ts";
import { Listener } from "../../../test/harness/listener.ts";
import { TestService } from "../../../test/harness/service.ts";
import { migrations } from "../../app/schema.ts";
import { shopNumber } from "../../contract/caller.ts";
import { newDatabase } from "../../storage/sqlite/database.ts";
import type { StatementStep } from "../../storage/step.ts";
import type { KnownSteps } from "../../storage/transaction.ts";
import { petEventFilter } from "../pets/pet-change.ts";
import { storedRange } from "./events.statements.ts";
import { type EventFilters, eventLog } from "./events.store.ts";

test("other requests are answered while a stream searches a long log", async () => {
  const service = await TestService.start();
  try {
    const { key } = await service.newAccountWithKey("enterprise");
    using search = endlessSearch();
    const listener = await Listener.open(`${service.app.base}/events/stream?after=0&type=pet.deleted`, key);
    const { status } = await service.call("GET", "/pets", { key });
    expect([status, search.isGoingOn]).toEqual([200, true]);
    listener.close();
  } finally {
    await service.stop();
  }
});

/** The columns of events that SQLite reads from each row that it scans for a page, found or not: it reads the type of each. */
function scannedColumns(filters: EventFilters): string[] {
  let sql = "";
  const steps = eventLog.after(shopNumber(1), 0n, 100, filters) as KnownSteps<unknown>;
  for (let next = steps.next(); !next.done; ) {
    const { statement } = next.value as StatementStep;
    if (statement !== storedRange) ({ sql } = statement);
    next = steps.next(statement === storedRange ? [{ first_id: 1n, last_id: 2n }] : []);
  }
  using database = newDatabase(migrations);
  interface Instruction {
    readonly addr: number;
    readonly opcode: string;
    readonly p1: number;
    readonly p2: number;
  }
  const program = database.query<Instruction, []>(`EXPLAIN ${sql}`).all();
  const of = (opcode: string) => program.filter((one) => one.opcode === opcode);
  const events = database.query<{ page: number }, []>(
    "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'events'",
  );
  const opened = of("OpenRead");
  const ofEvents = new Set(opened.filter(({ p2 }) => p2 === events.get()?.page).map(({ p1 }) => p1));
  // A loop over rows ends with the instruction that jumps back to its beginning.
  const scans = of("Next").filter(({ p1 }) => opened.some((one) => one.p1 === p1));
  const read = of("Column").filter(
    ({ addr, p1 }) => ofEvents.has(p1) && scans.some((scan) => scan.p2 <= addr && addr <= scan.addr),
  );
  const names = database.query<{ name: string }, []>("PRAGMA table_info(events)").all();
  const nameOf = ({ p2 }: Instruction) => names[p2]?.name ?? "";
  const scanning = new Set(read.filter((one) => nameOf(one) === "type").map(({ p1 }) => p1));
  return read.filter(({ p1 }) => scanning.has(p1)).map(nameOf);
}

test.each<[string, EventFilters]>([
  ["events", { type: ["pet.deleted"] }],
  ["events of an animal", { type: ["pet.deleted"], of: [{ filter: petEventFilter, id: 1n }] }],
])("a search among all %s does not read the data of those that it passes", (_, filters) => {
  const columns = scannedColumns(filters);
  expect(columns).toContain("type");
  expect(columns).not.toContainAnyValues(["data", "previous"]);
});
