import { beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { Operation } from "../../src/contract/operation.ts";
import { bodyLimits } from "../../src/contract/requests.ts";
import { normalizeOutcome } from "../harness/accepted-outcomes.ts";
import type { ExchangeOptions } from "../harness/raw-http.ts";
import { rounds } from "../harness/test-length.ts";
import { type BareResponse, bareResponses } from "./bare-responses.ts";
import { chunk, type RawRequest, render, withBody, withChunks } from "./raw-request.ts";
import { isCaseOf, isFirstWith, type Target } from "./target.ts";

/** What decides how the runtime reads a request and how the service responds. */
function shapeOf({ method, params, body, response }: Operation): string {
  return [method, params !== undefined, body !== undefined, response.stream !== undefined].join(" ");
}

/** How the bytes of a request are framed and cut. */
export function attackFraming(operation: Operation, target: () => Target): void {
  const readsBody = operation.body !== undefined;
  /** The body of a GET is ignored. */
  const ignoresBody = operation.method === "GET";
  const success = String(operation.response.status);
  const valid = () => target().valid(operation);
  const outcome = (request: RawRequest) => outcomeOfBytes(render(request), request);
  const outcomeOfBytes = async (bytes: string | Iterable<string>, request: RawRequest, options?: ExchangeOptions) =>
    normalizeOutcome(operation, await target().outcomeOfBytes(bytes, request, options));
  /** The operation's request with the body that it has, or with the one that stands for none. */
  const withAnyBody = (): RawRequest => (readsBody ? valid() : withBody(valid(), "{}"));

  const refuse = async (row: BareResponse) => {
    for (const bytes of row.bytes(valid())) {
      const got = await target().outcomeOfBytes(bytes, valid(), { halfCloses: row.halfCloses === true });
      expect([bytes, got]).toEqual([bytes, row.outcome === "closed" ? "closed" : `bare ${row.outcome}`]);
    }
  };

  describe("framing", () => {
    const rows = bareResponses.filter(
      (row, index) => (readsBody || !row.readsBody) && (isFirstWith(shapeOf, operation) || isCaseOf(operation, index)),
    );
    const named = (mayHaveRun: boolean) =>
      rows.filter((row) => Boolean(row.mayHaveRun) === mayHaveRun).map((row) => [row.what, row] as const);
    describe("before the operation", () => {
      let before: number;
      beforeAll(async () => {
        before = await target().accepted(operation);
      });
      test.each(named(false))("refuses %s", (_what, row) => refuse(row));
      test("has accepted none of these requests", async () => {
        expect(await target().accepted(operation)).toBe(before);
      });
    });

    test.each(named(true))("refuses %s", async (_what, row) => {
      await refuse(row);
      // The request may still be running. It has ended when a later one has, so the next test does not count it.
      await target().outcome(withAnyBody());
    });

    test("accepts unusual valid requests", async () => {
      const request = withAnyBody();
      const { body } = request;
      const length = `Content-Length: ${body.length}`;
      const size = body.length.toString(16);
      const odd: RawRequest[] = [
        { ...request, framing: [`content-LENGTH:${body.length}`] },
        { ...request, framing: [`Content-Length: \t ${body.length} \t `] },
        { ...request, framing: [`Content-Length: 000000${body.length}`] },
        { ...request, framing: [length, "Expect: 100-continue"] },
        { ...request, version: "HTTP/1.0", host: [] },
        withChunks(request, `${chunk(body)}0\r\n\r\n`),
        withChunks(request, body.split("").map(chunk).join("") + "0\r\n\r\n"),
        withChunks(request, `${size.toUpperCase()}\r\n${body}\r\n0000\r\n\r\n`),
        withChunks(request, `${"0".repeat(500)}${size}\r\n${body}\r\n0\r\n\r\n`),
        withChunks(request, `${size};a=b;c="d;e"\r\n${body}\r\n0;f\r\n\r\n`),
        { ...withChunks(request, `${chunk(body)}0\r\n\r\n`), framing: ["transfer-ENCODING: Chunked"] },
      ];
      const before = await target().accepted(operation);
      for (const one of odd) expect([one.framing, await outcome(one)]).toEqual([one.framing, success]);
      expect(await target().accepted(operation)).toBe(before + odd.length);
    });

    test("refuses a duplicate `Content-Length`, which the parser joins", async () => {
      const before = await target().accepted(operation);
      const request = withAnyBody();
      const length = `Content-Length: ${request.body.length}`;
      expect(await outcome({ ...request, framing: [length, length] })).toBe("400 invalid_request");
      expect(await target().accepted(operation)).toBe(before);
    });

    test("never treats a body as a request", async () => {
      const smuggled = render({ ...valid(), method: "GET", target: "/smuggled" });
      const framings = [
        withBody(valid(), smuggled),
        withChunks(valid(), `${chunk(smuggled)}0\r\n\r\n`),
        withChunks(valid(), `2;${"a".repeat(100)}\r\n{}\r\n${chunk(smuggled)}0\r\n\r\n`),
        { ...withBody(valid(), smuggled), version: "HTTP/1.0" },
        { ...withBody(valid(), smuggled), method: "HEAD" },
        { ...withBody(valid(), smuggled), method: "OPTIONS" },
        { ...withBody(valid(), smuggled), method: "DELETE" },
        { ...withBody(valid(), smuggled), authorization: [], more: [target().newAddress()] },
      ];
      for (const framing of framings) {
        expect(await target().outcome(framing)).toMatch(/^\d{3}( [a-z_]+)?$/); // one response, where two requests would get two
      }
    });

    test("accepts valid chunks of any size, and no others", async () => {
      const { body } = withAnyBody();
      const cuts = fc.array(fc.nat(body.length), { maxLength: 6 });
      const wrong = fc.record({ index: fc.nat(6), by: fc.constantFrom(0, 0, -2, -1, 1, 2, 100) });
      await fc.assert(
        fc.asyncProperty(cuts, wrong, async (positions, { index, by }) => {
          const parts = cutAt(body, positions);
          const faulty = by === 0 ? -1 : index % parts.length;
          const chunks = parts.map((part, at) => {
            const size = part.length + (at === faulty ? by : 0);
            return `${Math.max(1, size).toString(16)}\r\n${part}\r\n`;
          });
          const isRight = chunks.every((one, at) => one === chunk(parts[at] as string));
          const request = withChunks(valid(), `${chunks.join("")}0\r\n\r\n`);
          const got = await outcomeOfBytes(render(request), request, { halfCloses: !isRight });
          // A chunk that is too long eats up the end; the service then waits until the client leaves.
          // A handler that ignores the body has responded before its fault is seen, unless the client has left by then.
          const whenWrong = ["bare 400", "closed", ...(ignoresBody ? [`${success}(, bare 400)?`] : [])];
          expect(got).toMatch(new RegExp(`^(${isRight ? success : whenWrong.join("|")})$`));
        }),
        { numRuns: rounds(8, 1_800) },
      );
    });

    test("returns the same response however the bytes are split", async () => {
      const requests = [withAnyBody, () => withChunks(valid(), `${chunk(withAnyBody().body)}0\r\n\r\n`)];
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...requests),
          fc.array(fc.nat(1_000), { maxLength: 12 }),
          async (newRequest, at) => {
            const request = newRequest();
            const pieces = cutAt(render(request), at);
            expect(await outcomeOfBytes(pieces, request)).toBe(success);
          },
        ),
        { numRuns: rounds(8, 1_500) },
      );
    });

    test("returns one valid response to a corrupted request, or none", async () => {
      const change = fc.record({
        at: fc.nat(1_000),
        remove: fc.nat(4),
        insert: fc.oneof(
          fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
          fc.constantFrom(
            "\r\n",
            "\n",
            "\r\n\r\n",
            "\0",
            ":",
            " ",
            "\t",
            "%",
            "?",
            "#",
            "Content-Length: 1\r\n",
            "\r\n ",
          ),
        ),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          const garbled = changes.reduce((bytes, { at, remove, insert }) => {
            const position = at % bytes.length;
            return bytes.slice(0, position) + insert + bytes.slice(position + remove);
          }, render(withAnyBody()));
          const [method = "", path = ""] = garbled.split(" ", 2);
          const got = await target().outcomeOfBytes(garbled, { method, target: path }, { halfCloses: true });
          // What the garbling put after the request is refused by itself.
          expect(got).toMatch(/^(closed|(bare 4\d\d|bare 505|[1-4]\d\d( [a-z_]+)?)(, bare (4\d\d|505))*)$/);
        }),
        { numRuns: rounds(15, 7_500) },
      );
    });

    test("survives random bytes", async () => {
      const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((any) => Buffer.from(any).toString("latin1"));
      const words = fc.constantFrom(
        "GET ",
        "/v1/pets",
        " HTTP/1.1",
        "\r\n",
        "\n",
        ":",
        "Host: x",
        "\0",
        "0",
        "chunked",
        " ",
      );
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(
            bytes,
            fc.array(words, { maxLength: 20 }).map((list) => list.join("")),
          ),
          async (sent) => {
            const [method = "", path = ""] = sent.split(" ", 2);
            const got = await target().outcomeOfBytes(sent, { method, target: path }, { halfCloses: true });
            expect(got).toMatch(/^(closed|(bare 4\d\d|bare 505|[1-4]\d\d( [a-z_]+)?)(, bare (4\d\d|505))*)$/);
          },
        ),
        { numRuns: rounds(5, 1_800) },
      );
    });
  });

  describe("large bodies", () => {
    if (readsBody) {
      test("are accepted up to a limit and refused above, with a length and in chunks", async () => {
        const { body } = valid();
        const { bytes: limit } = operation.body?.limits ?? bodyLimits;
        for (const [length, expected] of [
          [limit, success],
          [limit + 1, "413 payload_too_large"],
          [3 * limit, "413 payload_too_large"],
        ] as const) {
          const large = body.padEnd(length);
          expect(await outcome(withBody(valid(), large))).toBe(expected);
          expect(await outcome(withChunks(valid(), `${chunk(large)}0\r\n\r\n`))).toBe(expected);
        }
      });
    }

    test("that never end get a response, and their connection is closed", async () => {
      const piece = chunk(" ".repeat(16_000));
      const endless = function* (request: RawRequest) {
        yield render(withChunks(request, ""));
        for (;;) yield piece;
      };
      const anonymous = { ...valid(), authorization: [], more: [target().newAddress()] };
      const unknown = { ...valid(), target: `${target().basePath}/nothing` };
      const responses = [
        [valid(), ignoresBody ? success : "413 payload_too_large"],
        [anonymous, "401 missing_api_key"],
        [unknown, "404 path_not_found"],
      ] as const;
      const isFirst = isFirstWith(({ method }) => method, operation);
      const many = Array.from(
        { length: rounds(isFirst ? 3 : 1, 60) },
        (_, index) => responses[index % 3] as (typeof responses)[number],
      );
      const got = await Promise.all(many.map(([request]) => outcomeOfBytes(endless(request), request)));
      expect(got).toEqual(many.map(([, expected]) => expected));
    });
  });
}

/**
 * Announces a large body to each operation and sends none. At once for all, because the service waits seconds for a body
 * that it could still read to its end.
 */
export async function outcomesOfAnnounced(operations: readonly Operation[], length: number, target: Target) {
  const announced = operations.map(async (operation) => {
    const framing = [`Content-Length: ${length}`];
    const got = await target.outcome({ ...target.valid(operation), framing, body: "" });
    return [operation.name, normalizeOutcome(operation, got)] as const;
  });
  return Promise.all(announced);
}

/** The parts of a text between positions, none of them empty. */
function cutAt(text: string, positions: readonly number[]): string[] {
  const sorted = [...new Set([0, ...positions.map((position) => position % text.length), text.length])].toSorted(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
}
