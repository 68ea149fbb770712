import { type Static, Type } from "typebox";
import { modes, scopes } from "../../contract/caller.ts";
import { Timestamp } from "../../contract/schemas.ts";

export const Scope = Type.Enum([...scopes], { title: "Scope", type: "string", description: "What an API key may do." });

export const KeyMode = Type.Enum([...modes], {
  title: "KeyMode",
  type: "string",
  description: "Which shop a key is for: the live one, or the sandbox (`test`).",
});

/** What every view of a key shows. */
export const keyFields = {
  id: Type.String({ description: "Identifies the key. It is no secret." }),
  name: Type.String({ description: "What the key is called." }),
  mode: KeyMode,
  hint: Type.String({ description: "Start and end of the key." }),
  scopes: Type.Array(Scope, { description: "What the key may do.", maxItems: scopes.length }),
  createdAt: Timestamp({ description: "When the key was made." }),
  expiresAt: Type.Optional(Timestamp({ description: "When the key ends. Absent if it has no end." })),
};

/** Part of a view of a key that shows whether it is banned. */
export const banField = {
  ban: Type.Optional(
    Type.Object(
      {
        reason: Type.String({ description: "Why the key is banned." }),
        endsAt: Timestamp({ description: "When the ban ends." }),
      },
      { title: "KeyBan", description: "The ban of the key. Absent where there is none." },
    ),
  ),
};

export const ApiKey = Type.Object(
  {
    ...keyFields,
    revokedAt: Type.Optional(Timestamp({ description: "When the key was revoked. Absent for one that was not." })),
    lastUsedAt: Type.Optional(
      Timestamp({ description: "When the key was last used, to the minute. Absent for one that never was." }),
    ),
  },
  { title: "ApiKey", description: "An API key, without its text." },
);
export type ApiKeyBody = Static<typeof ApiKey>;

export const ListedApiKey = Type.Object(
  { ...ApiKey.properties, ...banField },
  { title: "ListedApiKey", description: "An API key, without its text, and whether it is banned." },
);
export type ListedApiKeyBody = Static<typeof ListedApiKey>;

const key = Type.String({ description: "The key itself. It is shown this once." });

export const IssuedApiKey = Type.Object(
  { key, ...ApiKey.properties },
  { title: "IssuedApiKey", description: "A new API key with its text, which is not shown again." },
);

/** The key of the examples. */
export const till = {
  id: "key_5fQ0c2mN8xWbT1Lz",
  name: "till",
  mode: "test",
  hint: "psk_test_00…9fQ2",
  scopes: ["read", "write"],
  createdAt: "2026-11-21T12:00:00.000Z",
};
/** The same key as it is issued. */
export const issuedTill = { key: "psk_test_00…9fQ2", ...till };

export const exampleBan = {
  reason: "It went on sending requests after a 429.",
  endsAt: "2026-11-21T17:41:17.000Z",
};
