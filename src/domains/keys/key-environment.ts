import type { Mode } from "../../contract/caller.ts";

/** Determines which API keys are created and accepted. */
export interface KeyEnvironment {
  /** Production has live and test keys; any other environment has test keys only. */
  readonly isProduction: boolean;
  /** Two base62 characters in every key. A proxy routes requests by them to one of several services. */
  readonly cell: string;
}

/** The key modes of an environment. The first is the default. */
export function modesOf({ isProduction }: Pick<KeyEnvironment, "isProduction">): readonly [Mode, ...Mode[]] {
  return isProduction ? ["live", "test"] : ["test"];
}
