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
export type Values<S extends Settings> = { readonly [Name in keyof S]: S[Name] extends Setting<infer T> ? T : never };

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

/** The values of settings, and a sentence for each fault. */
export interface ReadSettings<S extends Settings> {
  /** Complete only if there is no fault. */
  readonly values: Values<S>;
  readonly faults: readonly string[];
}

/**
 * Reads settings from environment variables. White space around a value was pasted with it, and an empty variable counts
 * as unset. A name that is no setting but looks like one is a fault.
 */
export function readSettings<S extends Settings>(
  variables: Readonly<Record<string, string | undefined>>,
  declared: S,
): ReadSettings<S> {
  const known = Object.keys(declared);
  const faults = Object.keys(variables)
    .filter((name) => !known.includes(name) && (name.startsWith("PETSTORE_") || isMisspelled(name, known)))
    .map((name) => `${name} is not a setting.${reasonFor(name, known)}`);
  const values = Object.entries(declared).map(([name, { fallback, expects, parse, isSecret }]) => {
    const text = variables[name]?.trim() || fallback;
    const value = text === "" ? undefined : parse(text);
    if (text !== "" && value === undefined) {
      faults.push(
        isSecret || mayHoldCredentials(text)
          ? `${name} must be ${expects}.`
          : `${name} is ${JSON.stringify(text)}, but must be ${expects}.`,
      );
    }
    return [name, value] as const;
  });
  return { values: Object.fromEntries(values) as Values<S>, faults };
}

/**
 * What to do about a variable that is no setting. For each Service whose name begins with `petstore`, Kubernetes sets
 * variables in all pods that start after its creation. `PETSTORE_PORT` can be one of them.
 */
function reasonFor(name: string, known: readonly string[]): string {
  return name.endsWith("_SERVICE_HOST")
    ? " Kubernetes sets it and others for a Service: set `enableServiceLinks: false` in the specification of the pod."
    : didYouMean(suggest(name, known));
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
 * True for a name that does not start as a setting does, but was meant to: `PETSTOR_PORT`, `petstore_port`. It would
 * be ignored, and the service would run on the default. Not for `RESTORE_PORT`, which another program may have.
 */
function isMisspelled(name: string, known: readonly string[]): boolean {
  return /^pet/i.test(name) && isTypoOf(name, known);
}

/**
 * True if a text may contain credentials (`user:password@host`, even in part). Such an address may have been set in the
 * wrong variable, so the error message must not show it. A password may contain any character.
 */
function mayHoldCredentials(text: string): boolean {
  return /(:|\/\/).*@/s.test(text);
}
