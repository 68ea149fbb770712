// HTTP/1.1 byte by byte. Texts hold one byte per character, U+0000 to U+00FF.

/** Longer than any response takes, in milliseconds. A later response counts as missing. */
const RESPONSE_TIMEOUT = 20_000;

export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The body, decoded as UTF-8. */
  readonly text: string;
}

export interface ExchangeOptions {
  /** The response to HEAD has a length and no body. */
  readonly isHead?: boolean;
  /** Closes the sending side after the last piece, like a client that disconnects. */
  readonly halfCloses?: boolean;
}

/** The headers of a stream, which has no end. */
const streamHead = /\r\ncontent-type: text\/event-stream\r\n[^]*?\r\n\r\n/i;

/**
 * Sends bytes over a new connection, each piece as a separate packet, and returns all responses
 * once the service has closed the connection. Of a stream, it returns only the headers. Fails on a response that is not well-formed, and if the
 * service neither responds nor closes.
 */
export async function exchange(
  port: number,
  pieces: string | Iterable<string>,
  { isHead = false, halfCloses = false }: ExchangeOptions = {},
): Promise<RawResponse[]> {
  const rest = (typeof pieces === "string" ? [pieces] : pieces)[Symbol.iterator]();
  let received = Buffer.alloc(0);
  const ended = Promise.withResolvers<void>();
  let unsent: Buffer = Buffer.alloc(0);
  let isOpen = true;

  /** Writes until the connection accepts no more. */
  const pump = (socket: Bun.Socket): void => {
    if (!isOpen) return;
    if (unsent.length === 0) {
      const { value, done } = rest.next();
      if (done) {
        if (halfCloses) socket.shutdown();
        return;
      }
      unsent = Buffer.from(value, "latin1");
    }
    const written = socket.write(unsent);
    if (written < 0) return;
    unsent = unsent.subarray(written);
    socket.flush();
    if (unsent.length === 0) setImmediate(() => pump(socket)); // otherwise `drain` continues
  };

  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: (opened) => {
        opened.setNoDelay(true);
        pump(opened);
      },
      drain: pump,
      data: (_socket, bytes) => {
        received = Buffer.concat([received, bytes]);
        const stream = streamHead.exec(received.toString("latin1"));
        if (!stream) return;
        received = received.subarray(0, stream.index + stream[0].length);
        ended.resolve();
      },
      close: () => ended.resolve(),
      error: (_socket, error) => ended.reject(error),
    },
  });
  const timer = setTimeout(() => {
    ended.reject(new Error(`The service neither responded nor closed. It sent: ${received}`));
  }, RESPONSE_TIMEOUT);
  try {
    await ended.promise;
  } finally {
    isOpen = false;
    clearTimeout(timer);
    socket.terminate();
  }
  return parseResponses(received, isHead);
}

/** Splits what a service sent into responses, strictly: nothing may be left over. */
function parseResponses(bytes: Buffer, isHead: boolean): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf("\r\n\r\n");
    const [line = "", ...lines] = rest.toString("latin1", 0, Math.max(end, 0)).split("\r\n");
    const status = Number(/^HTTP\/1\.1 ([1-5][0-9]{2}) [ -~]+$/.exec(line)?.[1]);
    if (end < 0 || !status) throw new Error(`Not a response: ${JSON.stringify(rest.toString("latin1"))}`);
    const headers = new Headers(lines.map(parseHeader));
    const hasBody = !isHead && status >= 200 && status !== 204 && status !== 304;
    const start = end + 4;
    if (hasBody && headers.get("transfer-encoding") === "chunked" && rest.length > start) {
      const chunks: Buffer[] = [];
      rest = takeChunks(rest.subarray(start), chunks);
      responses.push({ status, headers, text: Buffer.concat(chunks).toString("utf8") });
      continue;
    }
    const length = hasBody ? Number(headers.get("content-length") ?? 0) : 0;
    if (start + length > rest.length) throw new Error(`The body of ${line} ends early.`);
    responses.push({ status, headers, text: rest.toString("utf8", start, start + length) });
    rest = rest.subarray(start + length);
  }
  return responses;
}

/** Takes the chunks of one body (RFC 9112, section 7.1). Returns what follows it. */
function takeChunks(bytes: Buffer, chunks: Buffer[]): Buffer {
  const start = bytes.indexOf("\r\n") + 2;
  const line = bytes.toString("latin1", 0, start);
  const end = start + Number.parseInt(line, 16);
  if (!/^[0-9a-f]+\r\n$/i.test(line) || bytes.toString("latin1", end, end + 2) !== "\r\n")
    throw new Error(`Not a chunk: ${JSON.stringify(line)}`);
  chunks.push(bytes.subarray(start, end));
  const rest = bytes.subarray(end + 2);
  return end === start ? rest : takeChunks(rest, chunks);
}

function parseHeader(line: string): [string, string] {
  const match = /^([A-Za-z][A-Za-z0-9-]*): ([ -~]*)$/.exec(line);
  if (!match) throw new Error(`Not a header: ${JSON.stringify(line)}`);
  return [match[1] as string, match[2] as string];
}
