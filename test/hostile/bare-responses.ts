import { bytesOf, chunk, type RawRequest, render, withBody, withChunks } from "./raw-request.ts";

/** What the runtime's HTTP parser refuses before the service sees a request. */
export interface BareResponse {
  /** What is sent, in the words of `docs/errors.md`. */
  readonly what: string;
  /** A status without a body and without the service's headers, or the end of the connection. */
  readonly outcome: "400" | "413" | "431" | "505" | "closed";
  /** What a request with this fault looks like on the wire. */
  readonly bytes: (valid: RawRequest) => readonly string[];
  /** Only where the operation reads a body; others have answered before it comes. */
  readonly readsBody?: true;
  /** The service has seen a whole request, and may have carried it out. */
  readonly mayHaveRun?: true;
  /** The client ends its side, so that nobody waits for the rest of what it sent. */
  readonly halfCloses?: true;
}

const lines = (valid: RawRequest, changed: Partial<RawRequest>[]) =>
  changed.map((change) => render({ ...valid, ...change }));

/** Requests with these lines in place of those that tell where the body ends. */
const framed = (valid: RawRequest, ...framings: string[][]) =>
  lines(
    valid,
    framings.map((framing) => ({
      framing,
      body: framing.some((line) => /^transfer/i.test(line)) ? chunked("{}") : "{}",
    })),
  );

const withLine = (valid: RawRequest, ...more: string[]) =>
  lines(
    valid,
    more.map((line) => ({ more: [line] })),
  );

const behindHeaders = (valid: RawRequest, ...bodies: string[]) => bodies.map((body) => render(withChunks(valid, body)));

function chunked(body: string): string {
  return `${chunk(body)}0\r\n\r\n`;
}

/** The table of `docs/errors.md`, which a test compares with this one. */
export const bareResponses: readonly BareResponse[] = [
  {
    what: "a request line of one word, or whose target is neither a path nor an address",
    outcome: "400",
    bytes: (valid) => [
      "\r\n",
      "GET\r\n\r\n",
      `\r\n${render(valid)}`,
      ...lines(valid, [
        { target: "" },
        { target: "*" },
        { target: valid.target.slice(1) },
        { target: ` ${valid.target}` },
        { target: `ftp://petstore${valid.target}` },
      ]),
    ],
  },
  {
    what: "a method with characters that no method has",
    outcome: "400",
    bytes: (valid) =>
      lines(
        valid,
        ["", "G/T", "__proto__", "GET,POST", "G{T", bytesOf("É"), "\x7fGET"].map((method) => ({ method })),
      ),
  },
  {
    what: "TLS, the preface of HTTP/2 and other binary protocols",
    outcome: "400",
    bytes: () => [
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
      "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n",
      "\0\x0e8K\xa3\xaa\r\n\r\n",
    ],
  },
  {
    what: "no HTTP version, or another than 1.0 and 1.1",
    outcome: "505",
    bytes: (valid) => [
      `GET ${valid.target}\r\n`,
      `GET ${valid.target}\r\n\r\n`,
      ...lines(
        valid,
        [
          "HTTP/0.9",
          "HTTP/1.2",
          "HTTP/2.0",
          "HTTP/3",
          "http/1.1",
          "HTTP/1.1x",
          "HTTP/1.10",
          "HTTP/01.1",
          "ICY/1.0",
        ].map((version) => ({ version })),
      ),
    ],
  },
  {
    what: "a space, a control character or a bare line feed in the request line",
    outcome: "505",
    bytes: (valid) => [
      render(valid).replaceAll("\r\n", "\n"),
      ...lines(
        valid,
        [" ", "\0", "\t", "\n", "\r", "\x0b", "\x1b"].map((character) => ({ target: `${valid.target}${character}x` })),
      ),
    ],
  },
  {
    what: "a header line without a colon or name, with a space in or after the name, or folded",
    outcome: "400",
    bytes: (valid) =>
      withLine(
        valid,
        "X-A",
        ": a",
        "X A: a",
        "X-A : a",
        "X-A\t: a",
        "X(A): a",
        bytesOf("XÉ: a"),
        "X-A: a\r\n b",
        "X-A: a\r\n\tb",
      ),
  },
  {
    what: "a header with a control character other than a tab",
    outcome: "400",
    bytes: (valid) =>
      withLine(
        valid,
        ..."\0\x01\x08\x0b\x0c\x0e\x1b\x1f".split("").map((control) => `X-A: a${control}b`),
        "X-A: a\nX-B: b",
        "X-A: a\rb",
      ),
  },
  {
    what: "HTTP/1.1 without `Host`",
    outcome: "400",
    bytes: (valid) => lines(valid, [{ host: [] }]),
  },
  {
    what: "more than 16 KiB of request line and headers, or more than 198 headers",
    outcome: "431",
    bytes: (valid) => [
      ...withLine(valid, `X-A: ${"a".repeat(17_000)}`, `X-A: ${"a".repeat(1_000_000)}`, `${"X".repeat(17_000)}: a`),
      ...lines(valid, [
        { target: `${valid.target}?${"a".repeat(17_000)}` },
        { more: Array.from({ length: 200 }, (_, index) => `X-${index}: a`) },
        { more: Array.from({ length: 5_000 }, () => "X-A: a") },
      ]),
    ],
  },
  {
    what: "`Content-Length` that is not a number of at most nineteen digits, or given twice with different values",
    outcome: "400",
    bytes: (valid) =>
      framed(
        valid,
        ...[
          "",
          "-1",
          "+2",
          "0x2",
          "2.0",
          "2e0",
          "2 2",
          "2,",
          "2, 2",
          "two",
          '"2"',
          "18446744073709551618",
          "9".repeat(300),
        ].map((length) => [`Content-Length: ${length}`]),
        ["Content-Length: 2", "Content-Length: 3"],
        ["Content-Length: 3", "Content-Length: 2"],
      ),
  },
  {
    what: "`Transfer-Encoding` with `Content-Length`, in HTTP/1.0, given twice, or other than `chunked`",
    outcome: "400",
    bytes: (valid) => [
      ...framed(
        valid,
        ["Content-Length: 2", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 2"],
        ["Transfer-Encoding: chunked", "Content-Length: 0"],
        ["Content-Length: 2", "Transfer-Encoding: identity"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ...[
          "",
          "identity",
          "gzip",
          "gzip, chunked",
          "chunked, identity",
          "chunked, chunked",
          "xchunked",
          "chunkedx",
        ].map((coding) => [`Transfer-Encoding: ${coding}`]),
        ...["\x0bchunked", '"chunked"', "chunked;q=1", "chun\r\n ked"].map((coding) => [
          `Transfer-Encoding: ${coding}`,
        ]),
        ["Transfer-Encoding : chunked"],
        [" Transfer-Encoding: chunked"],
      ),
      render({ ...withChunks(valid, chunked("{}")), version: "HTTP/1.0" }),
    ],
  },
  {
    what: "a chunk with a wrong size, or that ends in a bare line feed",
    outcome: "400",
    readsBody: true,
    bytes: (valid) =>
      behindHeaders(
        valid,
        ...[
          "zz",
          "-2",
          "+2",
          "0x2",
          "2 ",
          " 2",
          "",
          "2.0",
          "٢",
          "fffffffffffffff",
          "ffffffffffffffff",
          "10000000000000002",
        ].map((size) => `${bytesOf(size)}\r\n{}\r\n0\r\n\r\n`),
        "1\r\n{}\r\n0\r\n\r\n",
        "3\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}0\r\n\r\n",
        "2\n{}\n0\n\n",
        "2\r\n{}\n0\r\n\r\n",
        "2;a\nb\r\n{}\r\n0\r\n\r\n",
        "2 ;a\r\n{}\r\n0\r\n\r\n",
      ),
  },
  {
    what: "trailers after the last chunk",
    outcome: "400",
    readsBody: true,
    mayHaveRun: true, // the body is complete before them
    bytes: (valid) =>
      behindHeaders(
        valid,
        ...["X-A: a\r\n\r\n", "Content-Length: 2\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n", "no colon"].map(
          (trailers) => `${chunk(valid.body)}0\r\n${trailers}`,
        ),
      ),
  },
  {
    what: "a `Content-Length` above 128 MiB",
    outcome: "413",
    readsBody: true,
    bytes: (valid) =>
      framed(valid, ...["134217729", "4294967298", "9007199254740993"].map((length) => [`Content-Length: ${length}`])),
  },
  {
    what: "a chunk extension of more than 16 KiB",
    outcome: "413",
    readsBody: true,
    bytes: (valid) =>
      behindHeaders(valid, `2;${"a".repeat(17_000)}\r\n{}\r\n0\r\n\r\n`, `2\r\n{}\r\n0;${"a".repeat(100_000)}\r\n\r\n`),
  },
  {
    what: "a method that the parser does not know, or in small letters",
    outcome: "closed",
    bytes: (valid) =>
      lines(
        valid,
        ["get", "Get", "GETS", "G", "FOO", "BREW", "constructor", "toString", "X".repeat(5_000)].map((method) => ({
          method,
        })),
      ),
  },
  {
    what: "a request whose client leaves before its end",
    outcome: "closed",
    halfCloses: true,
    readsBody: true,
    bytes: (valid) => {
      const bytes = render(withBody(valid, "{}"));
      return [
        "",
        "G",
        "GET",
        ...[0.2, 0.5, 0.9].map((part) => bytes.slice(0, Math.floor(bytes.length * part))),
        bytes.slice(0, -1),
        ...behindHeaders(valid, "", "2", "2\r\n{", "2\r\n{}\r\n", "2\r\n{}\r\n0", "fffffffffffff\r\n{}"),
      ];
    },
  },
];
