import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { Operation } from "../../src/contract/operation.ts";
import { SIMULATE } from "../../src/contract/requests.ts";
import { normalizeOutcome } from "../harness/accepted-outcomes.ts";
import { rounds } from "../harness/test-length.ts";
import { headerNames, headerValues, hosts } from "./hostile-headers.ts";
import type { RawRequest } from "./raw-request.ts";
import { MARK } from "./soundness.ts";
import { isCaseOf, type Target } from "./target.ts";

/** Headers, as bytes on the wire. */
export function attackHeaders(operation: Operation, target: () => Target): void {
  const valid = () => target().valid(operation);
  const success = String(operation.response.status);
  const outcome = async (changed: Partial<RawRequest>) =>
    normalizeOutcome(operation, await target().outcome({ ...valid(), ...changed }));
  /** A malformed `If-Match` is refused; a tag that does not match has the outcome 412, which counts as a success here. */
  const expectedFor = (name: string) =>
    name === "If-Match" && operation.ifMatch
      ? expect.stringMatching(new RegExp(`^(?:${success}|400 invalid_request)$`))
      : success;
  const withLines = (...more: string[]) => outcome({ more });

  describe("headers", () => {
    test("without a key, or with more than one, return 401", async () => {
      const { key } = target();
      const missing = [
        [],
        [""],
        ["Bearer\t" + key],
        ["Basic " + key],
        [key],
        [`"Bearer ${key}"`],
        ["Bearer, " + key],
        ["Bearer=" + key],
      ];
      const invalid = [
        ["Bearer"],
        [`Bearer ${key}`, `Bearer ${key}`],
        [`Bearer ${key}`, "Bearer x"],
        ["Bearer x", `Bearer ${key}`],
        [`Bearer ${key}`, "Basic x"],
        [`Bearer ${key}, Bearer ${key}`],
        [`Bearer ${key};`],
        [`Bearer "${key}"`],
        [`Bearer ${key.toUpperCase()}`],
        [`Bearer ${key}\x7f`],
        [`Bearer ${key}\xa0`],
        [`Bearer ${key}%00`],
        [`Bearer Bearer ${key}`],
        [`Bearer ${key.slice(0, -1)}`],
        [`Bearer ${"a".repeat(8_000)}`],
        [`Bearer ${" ".repeat(8_000)}a`],
        [`Bearer ${MARK}`],
        ["Bearer ' OR 1=1--"],
        ["Bearer __proto__"],
      ];
      for (const [credentials, expected] of [
        ...missing.map((one) => [one, "401 missing_api_key"] as const),
        ...invalid.map((one) => [one, "401 invalid_api_key"] as const),
      ]) {
        const authorization = credentials.map((credential) => `Authorization: ${credential}`);
        const got = await target().outcome({ ...valid(), authorization, more: [target().newAddress()] });
        expect([credentials, got]).toEqual([credentials, expected]);
      }
    });

    test("with any other credentials are refused", async () => {
      const characters = fc.constantFrom(...'aA09_-.,;="\\/@ \t~\x7f\x80\xff'.split(""));
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: characters, maxLength: 60 }), async (text) => {
          const authorization = [`Authorization: Bearer ${text}`];
          const got = await target().outcome({ ...valid(), authorization, more: [target().newAddress()] });
          expect(got).toMatch(/^401 (invalid|missing)_api_key$/);
        }),
        { numRuns: rounds(5, 1_500) },
      );
    });

    test("with another Host do not change the response", async () => {
      for (const given of hosts) {
        const host = given.map((one) => `Host: ${one}`);
        expect([given, await outcome({ host })]).toEqual([given, success]);
      }
    });

    test("with hostile values change nothing, or are refused if the operation reads the header", async () => {
      for (const [row, name] of headerNames.entries()) {
        for (const [column, value] of headerValues.entries()) {
          if (!isCaseOf(operation, row + column)) continue;
          expect([name, value, await withLines(`${name}: ${value}`)]).toEqual([name, value, expectedFor(name)]);
        }
        if (!isCaseOf(operation, row)) continue;
        expect([name, await withLines(`${name}: a`, `${name}: b`)]).toEqual([name, expectedFor(name)]);
      }
    });

    test("with any value are accepted without control characters, and refused with them", async () => {
      const character = fc.oneof(
        { weight: 20, arbitrary: fc.integer({ min: 0x20, max: 0xff }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 0x1f }) },
      );
      const value = fc.array(character, { maxLength: 40 }).map((codes) => String.fromCharCode(...codes));
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...headerNames, "X-A"), value, async (name, text) => {
          // oxlint-disable-next-line no-control-regex -- control characters are what this is about
          const isAllowed = !/[\0-\x08\x0a-\x1f]/.test(text);
          // A carriage return and a line feed together are the beginning of another header.
          fc.pre(!text.includes("\r\n"));
          fc.pre(text.trim() !== "*"); // a condition that any state of a resource fulfils: 304
          expect(await withLines(`${name}: ${text}`)).toEqual(isAllowed ? expectedFor(name) : "bare 400");
        }),
        { numRuns: rounds(10, 3_000) },
      );
    });

    test("with an unknown simulation are refused", async () => {
      const items = fc.constantFrom(
        "delay=1",
        "delay=",
        "missing_api_key",
        "disconnect",
        "Missing_api_key",
        "=",
        "\xff",
        MARK,
        "",
      );
      const value = fc.array(items, { maxLength: 5 }).map((list) => list.join(","));
      for (const text of headerValues.filter((_text, index) => isCaseOf(operation, index))) {
        expect([text, await withLines(`${SIMULATE}: ${text}`)]).toEqual([text, "400 invalid_request"]);
      }
      await fc.assert(
        fc.asyncProperty(value, async (text) => {
          const codes = text.split(",").filter((item) => item === "missing_api_key" || item === "disconnect");
          const delays = text.split(",").filter((item) => item === "delay=1");
          const isGranted =
            text.split(",").length === codes.length + delays.length && codes.length <= 1 && delays.length <= 1;
          const granted =
            codes[0] === undefined ? success : codes[0] === "disconnect" ? "closed" : "401 missing_api_key";
          expect([text, await withLines(`${SIMULATE}: ${text}`)]).toEqual([
            text,
            isGranted ? granted : "400 invalid_request",
          ]);
        }),
        { numRuns: rounds(5, 1_500) },
      );
      // Sent twice, the header is a list of both.
      expect(await withLines(`${SIMULATE}: delay=1`, `${SIMULATE}: missing_api_key`)).toBe("401 missing_api_key");
    });

    test("with any name are accepted if the name is a token, and refused if not", async () => {
      const name = fc.array(fc.integer({ min: 1, max: 0xff }), { minLength: 1, maxLength: 3 });
      await fc.assert(
        fc.asyncProperty(
          name.map((codes) => `X${String.fromCharCode(...codes)}`),
          async (text) => {
            fc.pre(!/[:\r\n]/.test(text));
            const isToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
            expect(await withLines(`${text}: a`)).toBe(isToken ? success : "bare 400");
          },
        ),
        { numRuns: rounds(8, 1_500) },
      );
    });

    test("that are injected into another header are never returned", async () => {
      const line = `Set-${MARK}: ${MARK}`;
      expect(await withLines(`X-A: a\r\n${line}\r\nLocation: http://${MARK}.example`)).toBe(success);
      // Behind an empty line they are a body, or the beginning of another request.
      expect(await withLines(`X-A: a\r\n\r\n${line}`)).toMatch(/^(20\d|400 invalid_request)(, bare 400)?$/);
    });

    test("with many addresses from a proxy do no harm", async () => {
      const hop = fc.oneof(
        fc.constantFrom(
          "127.0.0.1",
          "::ffff:127.0.0.1",
          "::1%lo",
          "1.2.3.4:80",
          "[2001:db8::1]",
          "0x7f.1",
          "",
          " ",
          ":",
          "%",
        ),
        fc.ipV4(),
        fc.ipV6(),
        fc.string({ unit: "grapheme-ascii", maxLength: 8 }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(hop, { maxLength: 6 }), async (hops) => {
          const more = [`X-Forwarded-For: ${hops.join(",")}`];
          const got = await target().outcome({ ...valid(), authorization: [], more });
          expect(got).toMatch(/^(401 missing_api_key|429 rate_limit_exceeded)$/);
        }),
        { numRuns: rounds(5, 1_500) },
      );
    });

    if (operation.body) {
      test("that describe a body wrongly, or twice, are refused", async () => {
        const json = "Content-Type: application/json";
        for (const type of [
          [],
          ["Content-Type:"],
          [json, json],
          [json, "Content-Type: text/plain"],
          ["Content-Type: \xff"],
        ]) {
          expect([type, await target().outcome({ ...valid(), type })]).toEqual([type, "415 unsupported_media_type"]);
        }
        for (const encodings of [
          ["gzip"],
          ["identity", "identity"],
          ["identity", "gzip"],
          ["\xff"],
          ["a".repeat(8_000)],
        ]) {
          const more = encodings.map((one) => `Content-Encoding: ${one}`);
          expect([more, await target().outcome({ ...valid(), more })]).toEqual([more, "415 unsupported_media_type"]);
        }
      });
    }
  });
}
