import { isUtf8 } from "node:buffer";

/** The maximum length of a line, in bytes. */
const MAX_LINE = 1024 * 1024;
const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A fault in one line of a file. Lines are counted from 1. */
export interface LineFault {
  readonly line: number;
  readonly message: string;
}

/** A fault in a line after which the rest of the file cannot be parsed. */
export class UnreadableRest extends Error implements LineFault {
  override readonly name = "UnreadableRest";
  readonly line: number;

  constructor(line: number, message: string) {
    super(`${message}; what follows it was not read`);
    this.line = line;
  }
}

/** The first faults of a file that are found, and the count of all. */
export class LineFaults {
  /** The maximum number of faults to report. */
  readonly maxReported = 50;
  #reported: LineFault[] = [];
  #total = 0;

  /** `total` is the number of faults if `faults` does not hold all of them. */
  add(faults: readonly LineFault[], total = faults.length): void {
    this.#reported.push(...faults.slice(0, this.maxReported - this.#reported.length));
    this.#total += total;
  }

  get total(): number {
    return this.#total;
  }

  /** By ascending line. */
  get reported(): readonly LineFault[] {
    return this.#reported.toSorted((a, b) => a.line - b.line);
  }
}

/** Whole lines of a text file, with their line ends. */
export interface Lines {
  readonly bytes: Uint8Array;
  /** The number of the first of them. */
  readonly first: number;
  /** Those that are not UTF-8. */
  readonly faults: readonly LineFault[];
}

/**
 * Splits the bytes of a text file into groups of whole lines and drops the byte order mark. It holds one
 * chunk and one line in memory. Throws `UnreadableRest` at a line of more than 1 MiB.
 */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Lines> {
  let first = 1;
  let rest: Uint8Array = Buffer.alloc(0); // of a line that has not ended
  let isStart = true;
  const take = (bytes: Uint8Array): Lines => {
    const lines = { bytes, first, faults: isUtf8(bytes) ? [] : badLines(bytes, first) };
    first += lineFeeds(bytes);
    return lines;
  };
  for await (const piece of source) {
    let bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    if (isStart && bytes.length >= BYTE_ORDER_MARK.length) {
      isStart = false;
      if (BYTE_ORDER_MARK.equals(bytes.subarray(0, 3))) bytes = bytes.subarray(3);
    }
    const firstEnd = bytes.indexOf(LINE_FEED);
    if ((firstEnd < 0 ? bytes.length : firstEnd) > MAX_LINE) {
      throw new UnreadableRest(first, `is longer than ${MAX_LINE} bytes`);
    }
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    rest = bytes.subarray(end);
    if (end === 0) continue;
    isStart = false; // the mark comes before the first line only
    yield take(bytes.subarray(0, end));
  }
  if (rest.length > 0) yield take(rest);
}

function lineFeeds(bytes: Uint8Array): number {
  let count = 0;
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, end + 1)) count++;
  return count;
}

function badLines(bytes: Uint8Array, first: number): LineFault[] {
  const faults: LineFault[] = [];
  let line = first;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(LINE_FEED, start);
    const next = end < 0 ? bytes.length : end + 1;
    if (!isUtf8(bytes.subarray(start, next))) faults.push({ line, message: "is not valid UTF-8" });
    start = next;
  }
  return faults;
}
