import { createHash } from "node:crypto";

/** The platform of an executable, according to its headers. */
export interface Inspected {
  readonly format: "ELF" | "Mach-O" | "PE";
  readonly architecture: string;
  /** The C library of a Linux program. */
  readonly libc?: "glibc" | "musl";
  /** The result of checking the signature that macOS requires: the hash of each page is compared. */
  readonly signature?: string;
}

/** Reads the headers of an executable. Throws if they are not those of a 64-bit program. */
export function inspectExecutable(bytes: Buffer): Inspected {
  if (bytes.readUInt32BE(0) === 0x7f454c46) return inspectElf(bytes);
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return inspectMachO(bytes);
  if (bytes.toString("latin1", 0, 2) === "MZ") return inspectPe(bytes);
  throw new Error("The format of the executable is unknown.");
}

function named(names: Readonly<Record<number, string>>, code: number): string {
  const name = names[code];
  if (name === undefined) throw new Error(`The architecture ${code} is unknown.`);
  return name;
}

function inspectElf(bytes: Buffer): Inspected {
  if (bytes[4] !== 2) throw new Error("This ELF file is not 64-bit.");
  const architecture = named({ 62: "x64", 183: "arm64" }, bytes.readUInt16LE(18));
  const [start, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  for (let header = start; header < start + size * count; header += size) {
    if (bytes.readUInt32LE(header) !== 3) continue; // PT_INTERP
    const [from, length] = [Number(bytes.readBigUInt64LE(header + 8)), Number(bytes.readBigUInt64LE(header + 32))];
    const loader = bytes.toString("latin1", from, from + length - 1);
    return { format: "ELF", architecture, libc: loader.includes("musl") ? "musl" : "glibc" };
  }
  throw new Error("This ELF file names no loader.");
}

function inspectPe(bytes: Buffer): Inspected {
  const header = bytes.readUInt32LE(0x3c);
  if (bytes.toString("latin1", header, header + 4) !== "PE\0\0") throw new Error("This PE file has no header.");
  if (bytes.readUInt16LE(header + 24) !== 0x20b) throw new Error("This PE file is not 64-bit.");
  return { format: "PE", architecture: named({ 0x8664: "x64", 0xaa64: "arm64" }, bytes.readUInt16LE(header + 4)) };
}

const LC_CODE_SIGNATURE = 0x1d;
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const AD_HOC = 2;

function inspectMachO(bytes: Buffer): Inspected {
  const architecture = named({ 0x01000007: "x64", 0x0100000c: "arm64" }, bytes.readUInt32LE(4));
  let command = 32;
  for (let left = bytes.readUInt32LE(16); left > 0; left--) {
    if (bytes.readUInt32LE(command) === LC_CODE_SIGNATURE) {
      const signature = checkSignature(bytes, bytes.readUInt32LE(command + 8));
      return { format: "Mach-O", architecture, signature };
    }
    command += bytes.readUInt32LE(command + 4);
  }
  throw new Error("This Mach-O file has no signature; macOS would not run it on arm64.");
}

/** Compares the hash of each page with the signed one, as macOS does when it loads the page. Returns the result. */
function checkSignature(bytes: Buffer, start: number): string {
  if (bytes.readUInt32BE(start) !== SUPER_BLOB) throw new Error("The signature cannot be read.");
  const blobs = bytes.readUInt32BE(start + 8);
  const directory = Array.from(
    { length: blobs },
    (_, index) => start + bytes.readUInt32BE(start + 16 + 8 * index),
  ).find((blob) => bytes.readUInt32BE(blob) === CODE_DIRECTORY);
  if (directory === undefined) throw new Error("The signature has no code directory.");
  const field = (offset: number) => bytes.readUInt32BE(directory + offset);
  const [flags, hashes, pages, limit] = [field(12), field(16), field(28), field(32)];
  const [hashSize, pageSize] = [bytes[directory + 36] ?? 0, 2 ** (bytes[directory + 39] ?? 0)];
  const differs = Array.from({ length: pages }, (_, page) => page).filter((page) => {
    const text = bytes.subarray(page * pageSize, Math.min((page + 1) * pageSize, limit));
    const signed = directory + hashes + page * hashSize;
    return !createHash("sha256")
      .update(text)
      .digest()
      .equals(bytes.subarray(signed, signed + hashSize));
  });
  if (differs.length > 0)
    return `not valid (${differs.length} of ${pages} pages): run codesign --force --sign - on a Mac`;
  return `${flags & AD_HOC ? "ad hoc" : "not ad hoc"}, ${pages} pages compared`;
}
