import type { Tag } from "../../contract/operation.ts";

/** The tag of what a customer does with its own account: the operations are in the folders of keys and usage. */
export const account: Tag = {
  name: "account",
  description:
    "One's own account: what the key may do, how its limits stand, its other keys, and what they were used for.",
  stability: "experimental",
};
