import type { Tag } from "../../contract/operation.ts";

/** The tag of the operations on the caller's own account. They are in the folders of keys, requests and usage. */
export const account: Tag = {
  name: "account",
  description:
    "Your account: the calling key, its limits, the other keys, their usage, and recent changes and failures.",
  stability: "stable",
};
