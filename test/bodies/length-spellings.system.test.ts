// The limit of bodies holds however their length is spelled.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { metric } from "../harness/metrics.ts";
import { exchange, type RawResponse } from "../harness/raw-http.ts";
import { TestService } from "../harness/service.ts";
import { rounds } from "../harness/test-length.ts";

const LIMIT = 64 * 1024;
/** Above it the runtime's parser answers. */
const PARSER_LIMIT = 128 * 1024 * 1024;

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await TestService.start();
  key = await service.newKey();
});
afterAll(() => service.stop());

/** A request that adds an animal, with a body of this many bytes after these header lines. */
function create(length: number, framing: readonly string[]): string {
  const lines = [
    "POST /v1/pets HTTP/1.1",
    "Host: petstore",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    ...framing,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${'{"name":"Rex","categoryId":1}'.padEnd(length)}`;
}

const codeOf = ({ text }: RawResponse) => (JSON.parse(text) as { code: string }).code;

/** How many animals have been added. */
const added = () => metric(service.app.base, 'petstore_requests_total{operation="createPet",status="201"}');

/** One way to write a length: right, wrong in its form, or a list. */
function spelling(length: number) {
  const decimal = String(length);
  return fc.oneof(
    fc.constant(decimal),
    fc.nat(20).map((zeros) => "0".repeat(zeros) + decimal),
    fc.constantFrom("+", "-", " ", "\t", "'", '"', "\u00a0", "#").map((sign) => `${sign}${decimal}${sign}`),
    fc.constantFrom("0x", "0o", "0b", "x", "$").map((prefix) => prefix + length.toString(16)),
    fc.constantFrom(".0", ".", "e0", "n", "_", ";", "b", ";q=1").map((suffix) => decimal + suffix),
    fc
      .constantFrom(",", ", ", " ,", " ", ",,")
      .chain((comma) =>
        fc.array(fc.constantFrom(decimal, "0", ""), { minLength: 2, maxLength: 4 }).map((list) => list.join(comma)),
      ),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }).map(String),
    fc.constantFrom("", "NaN", "Infinity", "null", "chunked", "٢"),
    fc.string({ unit: "binary-ascii", maxLength: 8 }).map((text) => text.replaceAll(/[\r\n]/g, "")),
  );
}

const lengths = fc.constantFrom(29, 30, LIMIT - 1, LIMIT, LIMIT + 1, 300_000);
const cases = lengths.chain((length) =>
  fc.record({
    length: fc.constant(length),
    spellings: fc.array(spelling(length), { minLength: 1, maxLength: 3 }),
    name: fc.constantFrom("Content-Length", "content-length", "CONTENT-LENGTH"),
  }),
);

describe("the length of a body", () => {
  test("is accepted as one decimal number only; any other form closes the connection", async () => {
    let expected = await added();
    await fc.assert(
      fc.asyncProperty(cases, async ({ length, spellings, name }) => {
        const [first = "", ...others] = spellings;
        const text = first.replaceAll(/^[ \t]+|[ \t]+$/g, "");
        // The parser rejects numbers with more digits.
        const isNumber = others.length === 0 && /^[0-9]{1,18}$/.test(text);
        const isRight = isNumber && Number(text) === length;
        fc.pre(!isNumber || isRight || Number(text) > PARSER_LIMIT); // the length of another body
        const lines = spellings.map((one) => `${name}: ${Buffer.from(one).toString("latin1")}`);
        // Only valid requests ask to close the connection. The service closes it after the others.
        const got = await exchange(
          service.app.port,
          create(length, isRight ? [...lines, "Connection: close"] : lines),
          { halfCloses: false },
        );
        expect(got).toHaveLength(1);
        const [response] = got as [RawResponse];
        if (response.text !== "") service.check({ method: "POST", path: "/pets", ...response });
        if (!isRight) {
          expect([400, 413]).toContain(response.status);
          expect(response.headers.get("connection")).toBe("close");
        } else if (length > LIMIT) {
          expect([response.status, codeOf(response)]).toEqual([413, "payload_too_large"]);
        } else {
          expect(response.status).toBe(201);
          expected++;
        }
      }),
      {
        numRuns: rounds(150, 3_000),
        examples: [LIMIT, 300_000].map((length) => [
          { length, spellings: [String(length), String(length)], name: "Content-Length" },
        ]) as [{ length: number; spellings: string[]; name: string }][],
      },
    );
    expect(await added()).toBe(expected);
  });

  test.each(["POST /v1/pets", "GET /v1/pets", "DELETE /v1/pets/1", "POST /v1/store/orders/1/confirm"])(
    "given twice is told to the client of %s",
    async (line) => {
      const headers = ["Host: petstore", `Authorization: Bearer ${key}`, "Content-Type: application/json"];
      const twice = ["Content-Length: 2", "Content-Length: 2"];
      const got = await exchange(
        service.app.port,
        `${[`${line} HTTP/1.1`, ...headers, ...twice].join("\r\n")}\r\n\r\n{}`,
      );
      expect(got).toHaveLength(1);
      const [{ status, headers: sent, text }] = got as [RawResponse];
      const { code, details } = JSON.parse(text) as { code: string; details: unknown };
      expect([status, code, sent.get("connection")]).toEqual([400, "invalid_request", "close"]);
      expect(details).toEqual([{ path: "/header/Content-Length", message: "must be one number" }]);
    },
  );
});
