import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/** The longest that the service takes to stop, in seconds (docs/operating.md). */
export const STOPS_WITHIN = 15;

export const root = join(import.meta.dir, "../..");
export const read = (file: string): string => readFileSync(join(root, file), "utf8");

interface ComposeService {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A list of names for a service without a fixed address. */
  readonly networks: { readonly inside?: { readonly ipv4_address: string } };
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly command?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: {
    readonly inside: { readonly ipam: { readonly config: readonly { readonly ip_range: string }[] } };
  };
  readonly volumes: Readonly<Record<string, null>>;
}

/** compose.yaml, read as Compose reads it: anchors are merged. */
export function readCompose(): Compose {
  return parse(read("deploy/compose/compose.yaml"), { merge: true });
}

/** The assignments of a file of `NAME=value` lines. */
export function assignments(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));
}

/** A text with each `${NAME:?}` and `${NAME:-value}` replaced by what the function gives for the name. */
export function interpolate(text: string, value: (name: string) => string): string {
  return text.replaceAll(/\$\{(\w+)(?::[?-][^}]*)?\}/g, (_whole, name: string) => value(name));
}

/** The instructions of the Dockerfile in order: `["COPY", "src src"]`. */
export function dockerInstructions(): [string, string][] {
  return [...read("Dockerfile").matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name = "", rest = ""]) => [name, rest]);
}
