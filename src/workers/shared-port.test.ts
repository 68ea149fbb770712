import { expect, test } from "bun:test";
import { ListenError } from "../http/server.ts";
import { reservePort } from "./shared-port.ts";

const HOST = "127.0.0.1";

test("a port of another supervisor is refused, even while none of its workers listens", () => {
  const first = reservePort(HOST, 0);
  expect(() => reservePort(HOST, first.port)).toThrow(ListenError);
  first.release();
  reservePort(HOST, first.port).release();
});

test("a port in use is refused, even if its owner would share it", () => {
  for (const reusePort of [false, true]) {
    const server = Bun.serve({ hostname: HOST, port: 0, reusePort, fetch: () => new Response() });
    expect(() => reservePort(HOST, server.port as number)).toThrow(
      `Port ${server.port} on ${HOST} is in use. Set PETSTORE_PORT to another one.`,
    );
    void server.stop(true);
  }
});

test("two services may use one port on different addresses", () => {
  const first = reservePort(HOST, 0);
  reservePort("127.0.0.2", first.port).release();
  first.release();
});

test("a port is refused under another name of its address, and if one service uses all addresses", () => {
  const refused = [
    [HOST, "localhost"],
    [HOST, "127.1"],
    [HOST, "0.0.0.0"],
    [HOST, "::"],
    ["0.0.0.0", HOST],
    ["0.0.0.0", "::"],
    ["::", HOST],
  ] as const;
  for (const [one, other] of refused) {
    const first = reservePort(one, 0);
    expect(() => reservePort(other, first.port)).toThrow(
      `Port ${first.port} on ${other} is in use. Set PETSTORE_PORT to another one.`,
    );
    first.release();
    reservePort(other, first.port).release(); // a refused one has released it too
  }
});
