// The reading of traces, on traces in which response and sync overlap in every order.
import { describe, expect, test } from "bun:test";
import { folderViolations, syncOrderViolations } from "./sync-order.ts";
import { readSystemCalls } from "./system-calls.ts";

const wal = "/data/petstore.db-wal";
const write = `7 pwrite64(6<${wal}>, "\\0\\1Rex-1", 4096, 32) = 4096`;
const sync = `7 fsync(6<${wal}>) = 0`;
const syncBegins = `7 fsync(6<${wal}> <unfinished ...>`;
const syncEnds = "7 <... fsync resumed>) = 0";
const response = `8 sendto(9<socket:[46764]>, "HTTP/1.1 201 Created\\r\\n\\r\\n{\\"name\\":\\"Rex-1\\"}", 90, 0, NULL, 0) = 90`;

const violationsOf = (...lines: string[]) => syncOrderViolations(readSystemCalls(lines.join("\n")), ["Rex-1"], wal);

test("the checker accepts write, sync, response in this order", () => {
  expect(violationsOf(write, sync, response)).toEqual([]);
  expect(violationsOf(write, syncBegins, "8 +++ exited with 0 +++", syncEnds, response)).toEqual([]);
});

describe("the checker reports", () => {
  test.each([
    ["a response before the write", [response, write, sync], "answered before it was written"],
    ["a response without a write", [response], "answered before it was written"],
    ["a response before the sync", [write, response, sync], "answered before it was synced"],
    ["a response during the sync", [write, syncBegins, response, syncEnds], "answered before it was synced"],
    ["a response without a sync", [write, response], "answered before it was synced"],
    ["a sync before the write only", [sync, write, response], "answered before it was synced"],
    ["a sync that failed", [write, sync.replace("= 0", "= -1 EIO"), response], "answered before it was synced"],
    ["a sync of another file", [write, sync.replace("-wal", ""), response], "answered before it was synced"],
    ["a trace without the response", [write, sync, response.replace("201", "503")], "the trace has no response"],
  ])("%s", (_what, lines, violation) => {
    expect(violationsOf(...lines)).toEqual([`Rex-1: ${violation}`]);
  });
});

describe("for a created folder, the checker reports", () => {
  const made = '7 mkdir("/above/data", 0700) = 0';
  const synced = "7 fsync(5</above>) = 0";

  test("nothing if it is synced before the first response", () => {
    expect(folderViolations(readSystemCalls([made, synced, response].join("\n")), ["/above/data"])).toEqual([]);
  });

  test.each([
    ["no sync", [made, response], "answered before it was synced"],
    ["a sync after the response", [made, response, synced], "answered before it was synced"],
    ["a sync of itself only", [made, synced.replace("above", "above/data"), response], "answered before it was synced"],
    ["that it was there before", [made.replace("= 0", "= -1 EEXIST"), response], "not made, or there is no response"],
  ])("%s", (_what, lines, violation) => {
    expect(folderViolations(readSystemCalls(lines.join("\n")), ["/above/data"])).toEqual([`/above/data: ${violation}`]);
  });
});
