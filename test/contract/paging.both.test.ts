// What every list that is read page by page must do, shown with a list that has more filters than the
// service's own, and a path with a parameter.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "typebox";
import { defineError } from "../../src/contract/errors.ts";
import { bind, type Handlers } from "../../src/contract/handler.ts";
import { defineOperation } from "../../src/contract/operation.ts";
import { pageParameters } from "../../src/contract/paging.ts";
import { Int64, Text } from "../../src/contract/schemas.ts";
import type { Domain } from "../../src/domains/domain.ts";
import { nextOf } from "../harness/next-page.ts";
import { type TestResponse, TestService } from "../harness/service.ts";

const noShelf = defineError({ code: "shelf_not_found", status: 404, meaning: "There is no such shelf." });

const operations = [
  defineOperation({
    name: "listToys",
    method: "GET",
    path: "/shelves/{shelf}/toys",
    tag: { name: "toys", description: "What animals play with.", stability: "stable" },
    summary: "List toys",
    description: "Lists toys.",
    params: {
      schema: Type.Object({ shelf: Text({ description: "A shelf.", minLength: 1, maxLength: 9 }) }),
      invalidError: noShelf,
    },
    query: Type.Object({
      ...pageParameters("toys", 2),
      colour: Type.Optional(Type.String({ description: "Their colour." })),
      size: Type.Optional(Type.String({ description: "Their size." })),
    }),
    paged: { position: Int64({ description: "A toy." }) },
    response: {
      status: 200,
      description: "Toys.",
      schema: Type.Array(Int64({ description: "A toy." })),
      examples: { one: [1n] },
    },
  }),
] as const;

/** How many toys there are. Each is a number from 1 on. */
let toys = 4n;
const handlers: Handlers<typeof operations> = {
  *listToys({ query: { limit }, after = 0n }) {
    const last = after + BigInt(limit);
    const items = Array.from({ length: limit }, (_, index) => after + BigInt(index) + 1n).filter((toy) => toy <= toys);
    const positionAt = (place: number) => items[place] as bigint;
    return last < toys ? { items, positionAt, next: last } : { items, positionAt };
  },
};
const domain: Domain = { name: "things", operations, open: () => bind(operations, handlers) };

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start({ domains: [domain] });
  key = await service.newKey();
});
afterAll(() => service.stop());

const list = (query: string, headers: Record<string, string> = {}, shelf = "a b") =>
  service.call("GET", `/shelves/${encodeURIComponent(shelf)}/toys${query}`, { key, headers });

/** The cursor of the next page; undefined on the last. */
const cursorOf = (page: TestResponse) => nextOf(page)?.replace(/^.*cursor=/, "");

test("a cursor is valid for its filters only, in any order", async () => {
  const cursor = cursorOf(await list("?colour=red&size=small"));
  const { status, json } = await list(`?cursor=${cursor}&size=small&colour=red`);
  expect([status, json]).toEqual([200, [3, 4]]);
  for (const others of ["colour=red", "colour=small&size=red", "colour=red&size=large"]) {
    expect((await list(`?cursor=${cursor}&${others}`)).status).toBe(400);
  }
});

test("a cursor is read the same wherever it is in the query, however it is encoded, and only once", async () => {
  const cursor = cursorOf(await list("?colour=red")) ?? "";
  const encoded = cursor.replace(".", "%2E");
  for (const query of [`colour=red&cursor=${cursor}`, `cursor=${cursor}&colour=red`, `colour=red&cursor=${encoded}`]) {
    const { status, json, headers } = await list(`?${query}`);
    expect([query, status, json, headers.get("link")]).toEqual([query, 200, [3, 4], null]);
  }
  for (const query of [`cursor=${cursor}&cursor=${cursor}`, `colour=red&cursor=${cursor}&cursor=${encoded}`]) {
    expect((await list(`?${query}`)).json).toMatchObject({
      code: "invalid_request",
      details: [{ path: "/query/cursor", message: "is given more than once" }],
    });
  }
  expect((await list(`?limit=0&cursor=${cursor}`)).json).toMatchObject({ details: [{ path: "/query/limit" }] });
});

test("a page links to the next one of the same path, and a cursor is valid for its path only", async () => {
  const first = await list("?limit=2");
  const next = nextOf(first) ?? "";
  expect(first.headers.get("link")).toStartWith(`<${service.app.base}/shelves/a%20b/toys?`);
  const followed = await service.call("GET", next, { key });
  expect([followed.status, followed.json]).toEqual([200, [3, 4]]);
  expect((await list(`?limit=2&cursor=${cursorOf(first)}`, {}, "c")).status).toBe(400);
});

test("a client with a full last page finds the page that now follows it", async () => {
  const last = await list("?limit=4");
  const sent = { "If-None-Match": last.headers.get("etag") ?? "" };
  expect([last.json, cursorOf(last), (await list("?limit=4", sent)).status]).toEqual([[1, 2, 3, 4], undefined, 304]);
  toys++;
  const again = await list("?limit=4", sent);
  expect([again.status, again.json]).toEqual([200, [1, 2, 3, 4]]);
  expect((await list(`?limit=4&cursor=${cursorOf(again)}`)).json).toEqual([5]);
});
