import { ConnectionError, PetstoreError } from "petstore-client";

const TRY_AGAIN = "Try again in a moment.";
const adviceOfStatus: Readonly<Record<number, string>> = {
  400: "Correct what is marked, then send it again.",
  401: "Sign in with another key.",
  403: "Sign in with a key that may do this.",
  404: "It may have been deleted. Go back to the list.",
  409: "Change what stands in the way. Reload to see how it is now.",
  412: "Somebody else has changed it. Look at the change, then decide.",
  429: "Wait until the time is over. Nothing is lost.",
  503: `${TRY_AGAIN} A change may have been made.`,
};
/** What happened, in the words of a shop. Of other errors, the service says it. */
const shopWords: Readonly<Record<string, string>> = {
  invalid_request: "What was entered cannot be used.",
  pet_has_open_order: "It is reserved for a buyer.",
  pet_not_available: "It cannot be sold or reserved any more: somebody else was faster.",
  order_not_open: "The reservation has ended.",
  order_not_confirmed: "It was returned already.",
  ordered_pet_not_found: "The animal was deleted.",
  pet_deleted: "The animal was deleted, so it cannot be taken back.",
  invalid_transition: "Its order decides what it is.",
  category_name_taken: "Another category has this name.",
  category_in_use: "It has animals.",
  reference_taken: "Another animal has this reference.",
  shop_full: "The shop has as many animals as its plan allows.",
};
const adviceOfCode: Readonly<Record<string, string>> = {
  events_expired: "Choose a later event.",
  idempotency_key_in_use: TRY_AGAIN,
  lifetime_exceeds_key: "Choose a shorter “Expires in”, or sign in with a key that ends later.",
  overloaded: TRY_AGAIN, // which means that nothing was done
  key_banned: "Wait until the ban ends. Find the program that sends requests without waiting, and stop it.",
  account_suspended: "Ask the operator of the service why, and to resume the account.",
  webhooks_unavailable: "Ask the operator of the service to set it up. All other pages work.",
  pet_has_open_order: "Open the animal, and sell or release it there.",
  invalid_transition: "Open the animal, and return it there.",
  pet_not_available: "Look at the animal to see how it is now.",
  order_not_open: "Sell the animal as it is now.",
  category_in_use: "Merge it into another category.",
  category_name_taken: "Choose another name.",
  shop_full: "Delete some, or ask the operator of the service for more.",
};

/** What happened, and what the user can do about it. */
export interface Explanation {
  readonly message: string;
  readonly advice: string;
  readonly code?: string;
  readonly requestId?: string | undefined;
  readonly details?: readonly { readonly path: string; readonly message: string }[] | undefined;
}

export function explain(error: unknown): Explanation {
  if (!(error instanceof PetstoreError)) {
    return { message: String(error), advice: "Reload the console, and report this if it happens again." };
  }
  const { code, status = 0, operation, requestId, details } = error;
  if (error instanceof ConnectionError) {
    return { message: "The service cannot be reached.", advice: "Check the connection, then try again." };
  }
  const ofStatus = status === 503 && /^(get|list)/.test(operation) ? TRY_AGAIN : adviceOfStatus[status];
  const advice = adviceOfCode[code] ?? ofStatus ?? "Try again. If it fails again, report the request's id.";
  const told = shopWords[code];
  return { message: told ?? error.message, advice, code: told ? "" : code, requestId, details };
}
