import { type Static, Type } from "typebox";
import { defineOperation } from "../../contract/operation.ts";
import { described, Int32, LargeCount } from "../../contract/schemas.ts";
import { account } from "../accounts/accounts.operations.ts";
import { banField, exampleBan, exampleKey, keyFields } from "./keys.schemas.ts";

function seconds(description: string) {
  return Int32({ description: `${description}, in seconds.` });
}

const LimitWindow = Type.Object(
  {
    limit: LargeCount({ description: "Requests allowed in the window.", minimum: 1 }),
    used: LargeCount({ description: "Requests counted in the window.", minimum: 0 }),
    remaining: LargeCount({ description: "Requests left in the window.", minimum: 0 }),
    reset: LargeCount({ description: "When the window ends, as a Unix timestamp in seconds." }),
  },
  { title: "LimitWindow", description: "A window in which requests are counted." },
);

const CurrentKey = Type.Object(
  {
    ...keyFields,
    account: Type.Object(
      {
        id: Type.String({ description: "Identifies the account." }),
        name: Type.String({ description: "The account's name." }),
        plan: Type.String({ description: "The account's plan." }),
      },
      { title: "KeyAccount", description: "The account that the key belongs to." },
    ),
    limits: Type.Object(
      {
        minute: described(LimitWindow, "The current minute. Its first request began it."),
        day: described(LimitWindow, "The UTC calendar day."),
        key: Type.Optional(described(LimitWindow, "The key's own minute. Absent without `limitPerMinute`.")),
      },
      { title: "KeyLimits", description: "The windows of the shop, which all of its keys share, and of the key." },
    ),
    strikes: Type.Object(
      {
        count: LargeCount({
          description: "Requests sent more than a second after a 429, before its `Retry-After` had passed.",
          minimum: 0,
        }),
        untilBan: LargeCount({ description: "How many more strikes lead to a ban.", minimum: 1 }),
      },
      {
        title: "KeyStrikes",
        description: "Strikes of the key. Waiting for `Retry-After` resets them to 0, and so does a ban.",
      },
    ),
    ...banField,
    bans: Type.Object(
      {
        next: seconds("How long the next ban of the key would last"),
        first: seconds("How long the first ban lasts (each further one lasts twice as long)"),
        longest: seconds("How long a ban lasts at the most"),
        forgottenAfter: seconds("Time without a ban after which the next lasts as long as the first"),
      },
      { title: "BanSchedule", description: "How long bans last." },
    ),
  },
  { title: "CurrentKey", description: "The calling key, its account, and its current limits." },
);
export type CurrentKeyBody = Static<typeof CurrentKey>;

/** An example of the response, without strikes. */
const example = {
  ...exampleKey,
  account: { id: "acc_8sK2mX0qVb4TzR1c", name: "Corner shop", plan: "free" },
  limits: {
    minute: { limit: 60, used: 60, remaining: 0, reset: 1_795_282_860 },
    day: { limit: 1_000, used: 412, remaining: 588, reset: 1_795_305_600 },
  },
  bans: { next: 60, first: 60, longest: 3_600, forgottenAfter: 86_400 },
};

const getCurrentKey = defineOperation({
  name: "getCurrentKey",
  method: "GET",
  path: "/key",
  tag: account,
  summary: "Get the calling key",
  aliases: ["me", "whoami", "accounts", "users", "profile", "auth", "token", "limits", "quota"],
  description:
    "Returns the scopes of the calling key, the current limits of its shop, and how close a ban is or when it ends.",
  scopes: [],
  separateQuota: "plan",
  response: {
    status: 200,
    description: "The key and its current limits.",
    schema: CurrentKey,
    examples: {
      "A key with no requests left this minute": { ...example, strikes: { count: 3, untilBan: 27 } },
      "A banned key": {
        ...example,
        strikes: { count: 0, untilBan: 30 },
        ban: exampleBan,
        bans: { ...example.bans, next: 120 },
      },
    },
  },
});

export const currentKeyOperations = [getCurrentKey] as const;
