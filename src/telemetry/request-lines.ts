/** The fields of the line of a request. Undefined ones are left out. */
export interface RequestLine {
  readonly id: string;
  /** The id that its client gave it. */
  readonly clientRequestId: string | undefined;
  readonly operation: string | undefined;
  readonly method: string;
  readonly status: number;
  /** The code of its error. */
  readonly code: string | undefined;
  /** Milliseconds. */
  readonly duration: number;
  readonly account: string | undefined;
  readonly key: string | undefined;
  /** The parameters of its path, as the client sent them. */
  readonly resource: Readonly<Record<string, string>> | undefined;
  /** The id of the resource that it created. */
  readonly created: string | number | bigint | undefined;
  /** The client's address. */
  readonly address: string | undefined;
  /** The simulation that it asked for. */
  readonly simulated: string | undefined;
}

/**
 * Composes the log lines of requests: without a serializer and of few texts, because every request passes here. It keeps
 * the last texts that consecutive lines often share, those of an operation and of a client.
 */
export class RequestLines {
  /** What ends each line: the fields of every line, as JSON. */
  readonly #end: string;
  /** The start of the line at `#time`. */
  #start = "";
  #time = "";
  /** The fields of these three values. */
  #ofOperation = "";
  #operation: string | undefined;
  #method = "";
  #status = 0;
  /** The fields of these two values, and the end of the line. */
  #ofClient: string;
  #key: string | undefined;
  #address: string | undefined;

  /** `fields` are in every line. */
  constructor(fields: Readonly<Record<string, unknown>>) {
    // `,"worker":1}` and a line feed. Without fields, only `}` and a line feed.
    this.#end = `${JSON.stringify(fields).replace("{", ",").replace(/^,}$/, "}")}\n`;
    this.#ofClient = this.#end;
  }

  /** The line of a request, as JSON, with its line feed. `time` is the current time in ISO 8601. */
  compose(line: RequestLine, time: string): string {
    const { id, clientRequestId, operation, method, status, code, duration, account, key } = line;
    const { resource, created, address, simulated } = line;
    if (time !== this.#time) {
      this.#time = time;
      this.#start = flat('{"time":"', time, '","level":"info","event":"request","requestId":"');
    }
    if (operation !== this.#operation || method !== this.#method || status !== this.#status) {
      [this.#operation, this.#method, this.#status] = [operation, method, status];
      const name = operation === undefined ? "" : `"operation":"${operation}",`;
      this.#ofOperation = flat('",', name, '"method":', JSON.stringify(method), `,"status":${status},"durationMs":`);
    }
    if (key !== this.#key || address !== this.#address) {
      [this.#key, this.#address] = [key, address];
      const caller = key === undefined ? "" : `,"accountId":"${account}","keyId":"${key}"`;
      this.#ofClient = flat(caller, address ? `,"address":"${address}"` : "", this.#end);
    }
    let text = `${this.#start}${id}${this.#ofOperation}${Math.round(duration * 1000) / 1000}`;
    if (clientRequestId !== undefined) text += `,"clientRequestId":${JSON.stringify(clientRequestId)}`;
    if (code !== undefined) text += `,"code":"${code}"`;
    if (resource) text += resourceField(resource);
    if (created !== undefined) text += `,"created":"${created}"`;
    if (simulated !== undefined) text += `,"simulated":"${simulated}"`;
    return text + this.#ofClient;
  }
}

/**
 * Joins parts into one piece of memory. The runtime stores the result of `+` as references to its parts, and would copy
 * each part again for each line.
 */
function flat(...parts: readonly string[]): string {
  return parts.join("");
}

/** The field with the ids of a request's path; empty where there are none. As texts, because they can have 64 bits. */
function resourceField(params: Readonly<Record<string, string>>): string {
  let text = "";
  for (const name in params) {
    const id = params[name] as string;
    if (isPlainId(id)) text += `${text === "" ? "" : ","}"${name}":"${id}"`;
  }
  return text === "" ? "" : `,"resource":{${text}}`;
}

/** What the ids in a path look like. Anything else in a path may be a part of a key, sent there by mistake. */
const plainId = /^(\d{1,19}|[a-z]+_[0-9A-Za-z]{1,16}|we_[0-9a-f]{24})$/;

/** True for an id that may be written down. */
export function isPlainId(text: string): boolean {
  return plainId.test(text);
}
