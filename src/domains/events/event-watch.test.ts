// How often the store is read for the followers of events, and when they get them.
import { expect, spyOn, test } from "bun:test";
import { shopNumber } from "../../contract/caller.ts";
import type { StreamSink, StreamSource } from "../../contract/stream.ts";
import type { OpenStorage } from "../../storage/storage.ts";
import { EventWatch } from "./event-watch.ts";
import type { Event } from "./events.schemas.ts";
import { type Expired, eventLog } from "./events.store.ts";

const SHOP = shopNumber(1);
/** Turns of the event loop, which end long before the next periodic read. */
const SOON = 10;
const turn = () => new Promise(setImmediate);
const sink: StreamSink<Event> = {
  send: () => {},
  skipTo: () => {},
  drained: async () => {},
  isOpen: true,
  end: () => {},
  endLog: () => {},
};

/** Follows the shop, whose log is empty. Returns what ends it. */
function follow(storage: OpenStorage, to: StreamSink<Event>): () => void {
  using _ = spyOn(eventLog, "storedRange").mockImplementation(function* () {
    return { first: 1n, last: 0n };
  });
  const following = new EventWatch(storage, () => {}).follow(SHOP, undefined, {});
  following.next(); // waits for the store
  const { value: source } = following.next() as { value: StreamSource<Event> | Expired };
  if ("refused" in source) throw new Error(source.refused);
  return source.start(to);
}

test("a commit during a slow read of the store leads to one more read, after it", async () => {
  const commits: (() => void)[] = [];
  const commit = () => commits.forEach((listener) => listener());
  const reads: PromiseWithResolvers<unknown[]>[] = [];
  const storage = {
    onCommit: (listener: () => void) => void commits.push(listener),
    settled: async () => {},
    read: () => {
      const read = Promise.withResolvers<unknown[]>();
      reads.push(read);
      return read.promise;
    },
  } as unknown as OpenStorage;
  const stop = follow(storage, sink);
  const scheduled = spyOn(globalThis, "setImmediate");
  const now = spyOn(performance, "now").mockReturnValue(1_000);
  try {
    commit();
    while (reads.length === 0) await turn();
    now.mockReturnValue(2_000); // the read takes a second
    commit();
    scheduled.mockClear();
    const turns = 100;
    for (let count = 0; count < turns; count++) await turn();
    expect(scheduled).toHaveBeenCalledTimes(turns);
    expect(reads).toHaveLength(1);
    reads[0]?.resolve([{ shop: BigInt(SHOP), id: 0n }]);
    for (let count = 0; count < SOON; count++) await turn();
    expect(reads).toHaveLength(2);
  } finally {
    stop();
    scheduled.mockRestore();
    now.mockRestore();
  }
});

test("an event is sent when it is on disk, because a crash would undo it before", async () => {
  const onDisk = Promise.withResolvers<void>();
  const event = { id: 1n } as Event;
  const answers = [[{ shop: BigInt(SHOP), id: event.id }], 1, { items: [event] }];
  const sent: Event[] = [];
  const commits: (() => void)[] = [];
  const storage = {
    onCommit: (listener: () => void) => void commits.push(listener),
    settled: () => onDisk.promise,
    read: async () => answers.shift(),
  } as unknown as OpenStorage;
  const stop = follow(storage, { ...sink, send: (events) => sent.push(...events) });
  for (let count = 0; count < SOON; count++) await turn(); // until the follower is up to date
  for (const commit of commits) commit();
  while (answers.length > 0) await turn();
  for (let count = 0; count < SOON; count++) await turn();
  expect(sent).toEqual([]);
  onDisk.resolve();
  for (let count = 0; count < SOON; count++) await turn();
  expect(sent).toEqual([event]);
  stop();
});
