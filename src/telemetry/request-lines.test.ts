import { expect, test } from "bun:test";
import { type RequestLine, RequestLines } from "./request-lines.ts";

const time = "2026-11-26T10:00:00.000Z";
const line: RequestLine = {
  id: "process-1",
  clientRequestId: undefined,
  operation: "getPet",
  method: "GET",
  status: 200,
  code: undefined,
  duration: 1.23456,
  account: "acc_1",
  key: "key_1",
  resource: { id: "9223372036854775807" },
  created: undefined,
  address: "127.0.0.1",
  simulated: undefined,
};
/** Each differs from the one before in what the composer keeps, and then in the other fields. */
const lines: RequestLine[] = [
  line,
  line,
  { ...line, method: "HEAD" },
  { ...line, status: 304 },
  { ...line, status: 404, code: "pet_not_found", duration: 2 },
  { ...line, operation: undefined, method: 'A"B', status: 404, code: "path_not_found", resource: undefined },
  { ...line, account: undefined, key: undefined, status: 401, code: "invalid_api_key" },
  { ...line, account: undefined, key: undefined, address: "2001:db8::/64" },
  { ...line, address: undefined },
  { ...line, account: "acc_2", key: "key_2" },
  { ...line, operation: "createPet", method: "POST", status: 201, resource: undefined, created: 2n ** 63n - 1n },
  { ...line, clientRequestId: '"quoted"', simulated: "delay=2000" },
  { ...line, resource: { id: "7", other: "8" } },
  { ...line, resource: { id: "psk_live_secret" } },
];

test("a line has only the fields of its request, whichever fields the previous line had", () => {
  const composer = new RequestLines({ worker: 1 });
  for (const [index, { id, account, key, duration, resource, created, ...rest }] of [...lines, ...lines].entries()) {
    const later = index < lines.length ? time : time.replace("10:", "11:");
    const text = composer.compose({ id, account, key, duration, resource, created, ...rest }, later);
    const plain = Object.entries(resource ?? {}).filter(([, value]) => !value.startsWith("psk_"));
    expect(text.endsWith("}\n")).toBe(true);
    expect(JSON.parse(text)).toEqual(
      JSON.parse(
        JSON.stringify({
          time: later,
          level: "info",
          event: "request",
          requestId: id,
          durationMs: Math.round(duration * 1000) / 1000,
          accountId: account,
          keyId: key,
          resource: plain.length > 0 ? Object.fromEntries(plain) : undefined,
          created: created?.toString(),
          worker: 1,
          ...rest,
        }),
      ),
    );
  }
});

test("a line is complete if the log adds no fields to every line", () => {
  expect(JSON.parse(new RequestLines({}).compose(line, time))).toMatchObject({ requestId: "process-1", time });
});
