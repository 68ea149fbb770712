import type { Tag } from "../../contract/operation.ts";

/** The tag of what a customer does with its own account: the operations are in the folders of keys and usage. */
export const account: Tag = {
  name: "account",
  description: "Your account: the calling key, its limits, the other keys, and their usage.",
  stability: "experimental",
};
