import type { Mode } from "../../contract/caller.ts";

/** What decides which API keys are made and accepted. */
export interface KeyEnvironment {
  /** Production has live and test keys; any other environment has test keys only. */
  readonly isProduction: boolean;
  /** Two base62 characters, which every key has: a proxy can tell by them which of several services knows it. */
  readonly cell: string;
}

/** The modes of the keys of an environment; first the one that a key gets if nobody says which. */
export function modesOf({ isProduction }: Pick<KeyEnvironment, "isProduction">): readonly [Mode, ...Mode[]] {
  return isProduction ? ["live", "test"] : ["test"];
}
