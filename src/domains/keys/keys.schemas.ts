import { type Static, Type } from "typebox";
import { modes, scopes } from "../../contract/caller.ts";
import { Choice, Int32, Secret, Timestamp } from "../../contract/schemas.ts";

export const Scope = Choice(scopes, { title: "Scope", description: "What an API key may do." });

export const KeyMode = Choice(modes, {
  title: "KeyMode",
  description: "Which shop a key is for: the live one, or the sandbox (`test`).",
});

/** The fields that every view of a key has. */
export const keyFields = {
  id: Type.String({ description: "Identifies the key. Not secret." }),
  name: Type.String({ description: "The key's name." }),
  mode: KeyMode,
  hint: Type.String({ description: "The key's first and last characters." }),
  scopes: Type.Array(Scope, { description: "What the key may do.", maxItems: scopes.length }),
  createdAt: Timestamp({ description: "When the key was created." }),
  expiresAt: Type.Optional(Timestamp({ description: "When the key expires. Absent if never." })),
  limitPerMinute: Type.Optional(
    Int32({
      description: "Requests that the key may send in a minute. Absent if only the plan limits it.",
      minimum: 1,
    }),
  ),
};

/** The ban of a key, in views that show it. */
export const banField = {
  ban: Type.Optional(
    Type.Object(
      {
        reason: Type.String({ description: "Why the key is banned." }),
        endsAt: Timestamp({ description: "When the ban ends, in real time." }),
      },
      { title: "KeyBan", description: "The ban of the key. Absent if it is not banned." },
    ),
  ),
};

export const ApiKey = Type.Object(
  {
    ...keyFields,
    revokedAt: Type.Optional(Timestamp({ description: "When the key was revoked. Absent if it was not." })),
    lastUsedAt: Type.Optional(
      Timestamp({ description: "When the key was last used, to the minute. Absent if never used." }),
    ),
  },
  { title: "ApiKey", description: "An API key without its secret text." },
);
export type ApiKeyBody = Static<typeof ApiKey>;

export const ListedApiKey = Type.Object(
  { ...ApiKey.properties, ...banField },
  { title: "ListedApiKey", description: "An API key without its secret text, and its ban." },
);
export type ListedApiKeyBody = Static<typeof ListedApiKey>;

const key = Secret("The secret text of the key, shown only once.");

export const IssuedApiKey = Type.Object(
  { key, ...ApiKey.properties },
  { title: "IssuedApiKey", description: "A new API key with its secret text, which is not shown again." },
);

/** The key in the examples of the document: that of a till. */
export const exampleKey = {
  id: "key_5fQ0c2mN8xWbT1Lz",
  name: "till",
  mode: "test",
  hint: "psk_test_00…9fQ2",
  scopes: ["read", "write"],
  createdAt: "2026-11-21T12:00:00.000Z",
};
/** The same key as it is issued. */
export const exampleIssuedKey = { key: "psk_test_00…9fQ2", ...exampleKey };

export const exampleBan = {
  reason: "It kept sending requests after a 429.",
  endsAt: "2026-11-21T17:41:17.000Z",
};
