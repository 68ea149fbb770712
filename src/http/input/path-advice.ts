import { didYouMean, shown, suggest } from "../../contract/messages.ts";
import type { Operation } from "../../contract/operation.ts";

/** Paths that are longer, or have more segments, are compared with none: the work for a request stays small. */
const MAX_LENGTH = 200;
const MAX_SEGMENTS = 6;

// How different two paths are: the sum of these for their segments.
const OTHER_CASE = 0.1;
const OTHER_NUMBER = 0.2;
const MISTYPED = 0.4;
const MISSING_OR_ADDED = 0.6;
/** A text without a digit where an id is expected: rather another path. */
const NO_ID = 0.65;
/** Paths that differ as much are not mistaken for each other. */
const DIFFERENT = 1.2;

interface ServedPath {
  readonly path: string;
  readonly segments: readonly string[];
}

/** Says which path or method a request may mean, if it has one that is not served. */
export class PathAdvice {
  readonly #basePath: string;
  readonly #operations: readonly Operation[];
  readonly #served: readonly ServedPath[];

  /** `basePath` is the path of the base address; `others` are paths outside it. */
  constructor(basePath: string, operations: readonly Operation[], others: Iterable<string>) {
    this.#basePath = basePath;
    this.#operations = operations;
    const paths = new Set([...operations.map(({ path }) => basePath + path), ...others]);
    const served = [...paths].map((path) => ({ path, segments: segmentsOf(path) }));
    this.#served = served.filter(({ segments }) => segments.length > 0);
  }

  /** The message for a request whose path is not served. */
  ofUnknown({ url }: Request): string {
    // Requests of HTTP/1.0 without Host have no absolute URL.
    const path = url.replace(/^[a-z]+:\/\/[^/]*/i, "").replace(/[?#].*$/s, "");
    const nearest = this.#nearest(path);
    // The URL has lost its dot segments; routes match the path as it was sent.
    if (nearest === path) return `The path has the segment "." or "..". Send it as ${shown(path)}.`;
    return `There is nothing at ${shown(path)}.${didYouMean(nearest)}`;
  }

  /** The message for a request whose path does not support its method. `at` is one of the operations of the path. */
  ofMethod(method: string, allow: string, at: Operation | undefined): string {
    const near = this.#operations.find(
      (one) => one.method === method && at && (isItemOf(one.path, at.path) || isItemOf(at.path, one.path)),
    );
    const elsewhere = near ? ` ${method} works at ${this.#basePath}${near.path}.` : "";
    return `This path does not support ${method}. It supports ${allow}.${elsewhere}`;
  }

  #nearest(path: string): string | undefined {
    const given = segmentsOf(path);
    if (path.length > MAX_LENGTH || given.length === 0 || given.length > MAX_SEGMENTS) return undefined;
    let nearest: string | undefined;
    let least = DIFFERENT;
    for (const served of this.#served) {
      const difference = differenceOf(given, served.segments);
      if (difference < least) [nearest, least] = [served.path, difference];
    }
    return nearest;
  }
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter(Boolean);
}

/** True for the path of an item of a list: `/pets/{petId}` of `/pets`. */
function isItemOf(item: string, list: string): boolean {
  return item.startsWith(`${list}/{`) && !item.slice(list.length + 1).includes("/");
}

/** The least sum of differences between the segments of two paths, of which each can lack some of the other's. */
function differenceOf(given: readonly string[], served: readonly string[]): number {
  let row = Array.from({ length: served.length + 1 }, (_, index) => index * MISSING_OR_ADDED);
  for (const segment of given) {
    const next = [(row[0] as number) + MISSING_OR_ADDED];
    for (const [index, other] of served.entries()) {
      const replaced = (row[index] as number) + segmentDifference(segment, other);
      const added = (row[index + 1] as number) + MISSING_OR_ADDED;
      next.push(Math.min(replaced, added, (next[index] as number) + MISSING_OR_ADDED));
    }
    row = next;
  }
  return row.at(-1) as number;
}

function segmentDifference(given: string, served: string): number {
  if (given === served) return 0;
  if (served.startsWith("{")) return /[0-9]/.test(given) ? 0 : NO_ID;
  if (plain(given) === plain(served)) return OTHER_CASE;
  if (singular(given) === singular(served)) return OTHER_NUMBER;
  return suggest(given, [served]) === undefined ? DIFFERENT : MISTYPED;
}

function plain(segment: string): string {
  return segment.toLowerCase().replaceAll(/[_-]/g, "");
}

function singular(segment: string): string {
  return plain(segment).replace(/ies$/, "y").replace(/s$/, "");
}
