import { expect, test } from "bun:test";
import { parsePostgresAddress } from "./address.ts";

test("an address is parsed with all its parts", () => {
  expect(
    parsePostgresAddress(
      "postgresql://shop%40home:p%3Aw%2F@one.test:5433,[::1],10.0.0.1:1/pets?sslmode=require&target_session_attrs=read-write",
    ),
  ).toEqual({
    shown: "postgres://shop%40home@one.test:5433,[::1],10.0.0.1:1/pets",
    hosts: [
      { name: "one.test", port: 5433 },
      { name: "[::1]", port: 5432 },
      { name: "10.0.0.1", port: 1 },
    ],
    user: "shop@home",
    password: "p:w/",
    database: "pets",
    parameters: { sslmode: "require" },
  });
});

test("the printed form of an address has no password", () => {
  expect(parsePostgresAddress("postgres://me:secret@host/pets")?.shown).toBe("postgres://me@host/pets");
});

test.each([
  "",
  "host/pets",
  "mysql://me@host/pets",
  "postgres://host/pets",
  "postgres://me@host",
  "postgres://me@host/",
  "postgres://me@/pets",
  "postgres://me@host:0/pets",
  "postgres://me@host:65536/pets",
  "postgres://me@host:5432x/pets",
  "postgres://me@host,/pets",
  "postgres://me@host/a/b",
  "postgres://me:%zz@host/pets",
  "postgres://me@host/pets?target_session_attrs=any",
])("%p is not an address of a database", (text) => {
  expect(parsePostgresAddress(text)).toBeUndefined();
});
