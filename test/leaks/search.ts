import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The length of the pieces that are looked for. Any 23 characters of a secret in a row hold a whole one. */
const PIECE = 16;
const STEP = 8;
/** A hash has 22 bits and moves by 5 with each character, so it depends on the last 5 ASCII characters. */
const [BEGINNING, MASK] = [5, 2 ** 22 - 1];
/** Files are searched in parts of this many bytes, each beginning with the end of the one before. */
const PART = 8 * 1024 * 1024;
const OVERLAP = 256;
/** Places of one file that are told. */
const MAX_REPORTED = 5;

/** Where this machine keeps the program and the stores of the tests: nobody outside should learn it. */
const internalPaths = [join(import.meta.dir, "../.."), join(tmpdir(), "petstore-")];

/** What was searched, and what was found. */
export interface Findings {
  readonly keys: number;
  readonly bytes: number;
  /** Where something is that should not be there, in words. */
  readonly leaks: readonly string[];
}

/** Searches what a run of the tests has recorded for API keys, for their digests, and for paths of this machine. */
export function searchEvidence(folder: string): Findings {
  const keyFile = join(folder, "keys");
  const keys = existsSync(keyFile) ? readFileSync(keyFile, "utf8").split("\n").filter(Boolean) : [];
  const pieces = new Pieces(keys.flatMap(piecesOf));
  const leaks: string[] = [];
  let bytes = 0;
  for (const name of readdirSync(folder).filter((one) => one !== "keys")) {
    const places: string[] = [];
    for (const part of partsOf(join(folder, name), name.startsWith("process-"))) {
      bytes += part.length;
      const text = name.startsWith("process-") ? withoutShownKeys(part) : part;
      places.push(...pieces.find(text), ...findPaths(name === "responses" ? text : ordinaryLines(text)));
    }
    leaks.push(...places.slice(0, MAX_REPORTED).map((place) => `${name}: ${place}`));
  }
  return { keys: keys.length, bytes, leaks };
}

/** Pieces of the secret part of a key, and of its digest in the usual ways to write one. */
function piecesOf(key: string): string[] {
  const digest = createHash("sha256").update(key).digest();
  const secrets = [
    key.slice("psk_live_".length),
    ...(["base64", "base64url", "hex"] as const).map((encoding) => digest.toString(encoding)),
  ];
  return secrets.flatMap((secret) =>
    Array.from({ length: Math.ceil((secret.length - PIECE + 1) / STEP) }, (_, index) =>
      secret.slice(index * STEP, index * STEP + PIECE),
    ),
  );
}

function* partsOf(file: string, isWhole: boolean): Generator<string> {
  if (isWhole) {
    yield readFileSync(file, "utf8");
    return;
  }
  const descriptor = openSync(file, "r");
  const buffer = Buffer.alloc(PART);
  let rest = "";
  for (let length = readSync(descriptor, buffer); length > 0; length = readSync(descriptor, buffer)) {
    const part = rest + buffer.toString("latin1", 0, length);
    yield part;
    rest = part.slice(-OVERLAP);
  }
  closeSync(descriptor);
}

/** What a process wrote, without its command and without the keys that it shows once because that is its purpose. */
function withoutShownKeys(text: string): string {
  const [command = "", ...lines] = text.split("\n");
  const output = lines.join("\n");
  if (/\bkeys\b.*\b(create|rotate)\b/.test(command)) return output.replace(/^(\{"key":")?psk_[a-z]+_\w{38}\b/, "");
  if (!/\bserve\b|npm start/.test(command)) return output;
  return output
    .replace(/( is its API key; it is not shown again:\n\n {2})psk_[a-z]+_\w{38}\b/, "$1")
    .replace(/(\nTry it:\n\n {2}curl -H 'Authorization: Bearer )psk_[a-z]+_\w{38}\b/, "$1")
    .replace(/(\nOpen the console, signed in:\n\n {2}\S+#key=)psk_[a-z]+_\w{38}\b/, "$1");
}

/** Pieces to look for. */
class Pieces {
  readonly #pieces: ReadonlySet<string>;
  /** 1 for each hash of the beginning of a piece. Most places have another, so nothing is cut out there. */
  readonly #beginnings = new Uint8Array(MASK + 1);

  constructor(pieces: readonly string[]) {
    this.#pieces = new Set(pieces);
    for (const piece of pieces) {
      let hash = 0;
      for (let at = 0; at < BEGINNING; at++) hash = nextHash(hash, piece.charCodeAt(at));
      this.#beginnings[hash] = 1;
    }
  }

  /** The places in a text that hold a piece. */
  find(text: string): string[] {
    const places: string[] = [];
    for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z+/_-]{16,}/g)) {
      let hash = 0;
      for (let at = 0; at <= run.length - PIECE + BEGINNING - 1; at++) {
        hash = nextHash(hash, run.charCodeAt(at));
        const start = at - BEGINNING + 1;
        if (this.#beginnings[hash] === 0 || start < 0 || !this.#pieces.has(run.slice(start, start + PIECE))) continue;
        places.push(excerpt(text, index + start));
        break;
      }
    }
    return places;
  }
}

/** The hash of the last characters before and with this one, as many as `BEGINNING` says. */
function nextHash(hash: number, character: number): number {
  return ((hash << 5) ^ character) & MASK;
}

/** The lines of a log that everybody may see who sees logs: no stacks of errors, no settings. */
function ordinaryLines(text: string): string {
  return [...text.matchAll(/^.*"level":"(?:info|warn)".*$/gm)].join("\n");
}

function findPaths(text: string): string[] {
  return internalPaths
    .map((path) => text.indexOf(path))
    .filter((place) => place >= 0)
    .map((place) => excerpt(text, place));
}

/** What stands before the place, and a little of what stands there. */
function excerpt(text: string, place: number): string {
  return JSON.stringify(text.slice(Math.max(0, place - 80), place + PIECE));
}
