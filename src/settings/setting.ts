import { didYouMean, isTypoOf, suggest } from "../contract/messages.ts";

/** One setting. An environment variable holds its value. `parse` returns undefined for a text that is not valid. */
export interface Setting<T> {
  readonly meaning: string;
  /** The text that is used if the variable is unset; empty for none. */
  readonly fallback: string;
  /** Describes valid values, for error messages and the reference: "a whole number from 1 to 9". */
  readonly expects: string;
  readonly parse: (text: string) => T | undefined;
  /** True if its value may hold a secret, which no message shows. */
  readonly isSecret?: boolean;
}

/** Settings by the name of their environment variable. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of settings, by the same names. */
export type SettingValues<S extends Settings> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer T> ? T : never;
};

/** A setting that always has a value. */
export function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

/** A setting whose value is undefined if its variable is unset. */
export function optionalSetting<T>(definition: Omit<Setting<T>, "fallback">): Setting<T | undefined> {
  return { ...definition, fallback: "" };
}

/** The parts of a setting whose value is one of these words. */
export function oneOf<T extends string>(values: readonly T[]): Pick<Setting<T>, "expects" | "parse"> {
  return { expects: `one of ${values.join(", ")}`, parse: (text) => values.find((value) => value === text) };
}

/** The parts of a setting that is on or off. */
export const trueOrFalse: Pick<Setting<boolean>, "expects" | "parse"> = {
  expects: "true or false",
  parse: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};

/**
 * Reads settings from environment variables. White space around a value was pasted with it, and an empty variable counts
 * as unset. A name that is no setting but looks like one is a fault. Returns a sentence for each fault; the values are
 * complete only if there is none.
 */
export function readSettings<S extends Settings>(variables: Readonly<Record<string, string | undefined>>, declared: S) {
  const known = Object.keys(declared);
  // `PETSTOR_PORT` was meant to be a setting, and would be ignored. `RESTORE_PORT` may belong to another program.
  const faults = Object.keys(variables)
    .filter(
      (name) =>
        !known.includes(name) && (name.startsWith("PETSTORE_") || (/^pet/i.test(name) && isTypoOf(name, known))),
    )
    .map((name) => `${name} is not a setting.${reasonFor(name, declared)}`);
  const values = Object.entries(declared).map(([name, { fallback, expects, parse, isSecret }]) => {
    const text = variables[name]?.trim() || fallback;
    const value = text === "" ? undefined : parse(text);
    if (text !== "" && (value === undefined || Number.isNaN(value))) {
      faults.push(
        isSecret || mayHoldCredentials(text)
          ? `${name} must be ${expects}.`
          : `${name} is ${JSON.stringify(text)}, but must be ${expects}.`,
      );
    }
    return [name, value] as const;
  });
  return { values: Object.fromEntries(values) as SettingValues<S>, faults };
}

/**
 * What to do about a variable that is no setting. For each Service whose name begins with `petstore`, Kubernetes sets
 * variables in all pods that start after its creation. `PETSTORE_PORT` can be one of them.
 */
function reasonFor(name: string, declared: Settings): string {
  return name.endsWith("_SERVICE_HOST")
    ? " Kubernetes sets it and others for a Service: set `enableServiceLinks: false` in the specification of the pod."
    : didYouMean(nearestSetting(name, declared));
}

/**
 * The setting that a name may mean: one that it mistypes, is a part of (`PETSTORE_LOG`), describes (`PETSTORE_REDIS_URL`) or
 * abbreviates (`PETSTORE_DB`); the shortest of several.
 */
function nearestSetting(name: string, declared: Settings): string | undefined {
  const known = Object.keys(declared).toSorted((one, other) => one.length - other.length);
  if (isTypoOf(name, known)) return suggest(name, known);
  const part = name.replace(/^PETSTORE_/, "");
  const words = part.split("_").filter((word) => word.length > 4);
  const describes = new RegExp(`\\b(?:${words.join("|")})`, "i");
  const placeIn = (one: string) => (words.length > 0 ? (declared[one]?.meaning.search(describes) ?? -1) : -1);
  const abbreviates = new RegExp(`^PETSTORE_${part.replaceAll(/\W/g, "").replaceAll(/(?<=.)(?=.)/g, ".*")}`, "i");
  return (
    known.find((one) => `${one}_`.includes(`_${part}_`)) ??
    known.filter((one) => placeIn(one) >= 0).toSorted((one, other) => placeIn(one) - placeIn(other))[0] ??
    known.find((one) => part.length > 1 && abbreviates.test(one))
  );
}

/** What is wrong with the declaration of settings, a sentence for each fault. */
export function settingFaults(declared: Settings): string[] {
  const faults: string[] = [];
  for (const [name, { fallback, parse, expects }] of Object.entries(declared)) {
    if (!/^PETSTORE(_[A-Z0-9]+)+$/.test(name)) faults.push(`${name}: a setting is named like PETSTORE_NAME.`);
    if (fallback !== "" && parse(fallback) === undefined) faults.push(`${name}: its fallback is not ${expects}.`);
  }
  return faults;
}

/**
 * True if a text may contain credentials (`user:password@host`, even in part). Such an address may have been set in the
 * wrong variable, so the error message must not show it. A password may contain any character.
 */
function mayHoldCredentials(text: string): boolean {
  return /(:|\/\/).*@/s.test(text);
}
