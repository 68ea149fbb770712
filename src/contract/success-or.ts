import type { Failure } from "./errors.ts";

/** Why a store rejected a change: a name, alone or with details for the client. */
type Refused = string | { readonly refused: string };

type NameOf<O> = O extends string ? O : O extends { readonly refused: infer Name extends string } ? Name : never;

/** The failure for each refusal among the outcomes, by its name. */
type Failures<O> = {
  readonly [Name in NameOf<O>]: (refused: Extract<O, Name | { readonly refused: Name }>) => Failure;
};

/**
 * The success for an outcome of a store, or the failure that `failures` has for its refusal. A refusal without a failure
 * does not compile.
 */
export function successOr<O, const F extends Failures<O>>(
  outcome: O,
  failures: F,
): { readonly body: Exclude<O, Refused> } | ReturnType<F[keyof F]>;
export function successOr(outcome: unknown, failures: Readonly<Record<string, (refused: unknown) => Failure>>) {
  const name =
    typeof outcome === "string" ? outcome : (outcome as { readonly refused?: string } | null | undefined)?.refused;
  return name === undefined ? { body: outcome } : failures[name]?.(outcome);
}
