import { type Static, Type } from "typebox";
import { scopes } from "../../contract/caller.ts";
import { defineError, invalidApiKey, invalidRequest, lifetimeExceedsKey } from "../../contract/errors.ts";
import { defineEvent, defineOperation, noContent } from "../../contract/operation.ts";
import { pagesOf } from "../../contract/paging.ts";
import { described, Int32, MEANING, removable, Text } from "../../contract/schemas.ts";
import { account } from "../accounts/accounts.operations.ts";
import {
  ApiKey,
  exampleBan,
  exampleIssuedKey,
  exampleKey,
  IssuedApiKey,
  KeyMode,
  ListedApiKey,
  Scope,
} from "./keys.schemas.ts";

/** The shortest lifetime of a new key, in seconds. */
export const MIN_LIFETIME = 60;

/** The maximum number of valid keys per account and mode. */
export const MAX_KEYS = 100;

export const keyNotFound = defineError({
  code: "key_not_found",
  status: 404,
  meaning: "No key of the account has this identifier.",
});
export const keyEnded = defineError({
  code: "key_ended",
  status: 409,
  meaning: "The key is revoked or has expired, and cannot be replaced or changed. Create another one.",
});
export const tooManyKeys = defineError({
  code: "too_many_keys",
  status: 409,
  meaning: `The account already has ${MAX_KEYS} valid keys of this mode, the maximum. Revoke one that you no longer need.`,
});
export const scopeNotHeld = defineError({
  code: "scope_not_held",
  status: 403,
  meaning: "The new key would have a scope that the calling key lacks.",
});
export const limitExceedsKey = defineError({
  code: "limit_exceeds_key",
  status: 403,
  meaning: "The key would have a higher `limitPerMinute` than the calling key, or none.",
});
export const modeNotHeld = defineError({
  code: "mode_not_held",
  status: 403,
  meaning: "A test key can create test keys only.",
});
export const lastAdminKey = defineError({
  code: "last_admin_key",
  status: 409,
  meaning: "No other `admin` key of this mode is valid for as long. Create one first.",
});

const readBy = { scope: "admin" } as const;
const change = { data: ApiKey, previous: ApiKey } as const;
export const keyCreated = defineEvent({ ...readBy, type: "key.created", meaning: "A key was created.", data: ApiKey });
export const keyRotated = defineEvent({
  ...readBy,
  ...change,
  type: "key.rotated",
  meaning: "A key was replaced by another.",
});
export const keyRevoked = defineEvent({ ...readBy, ...change, type: "key.revoked", meaning: "A key was revoked." });
export const keyUpdated = defineEvent({
  ...readBy,
  ...change,
  type: "key.updated",
  meaning: "The limit of a key was changed.",
});
// `keyBanned` is an error.
export const keyBannedEvent = defineEvent({
  ...readBy,
  type: "key.banned",
  meaning: "A key was banned temporarily, because it kept sending requests after a 429.",
  data: ListedApiKey,
});
export const keyEventTypes = [keyCreated, keyUpdated, keyRotated, keyRevoked, keyBannedEvent] as const;

const scopeList = Type.Array(Scope, {
  description: "What the key may do.",
  minItems: 1,
  maxItems: scopes.length,
});

const limit = Int32({
  description: "Requests a minute, at most those of the plan.",
  minimum: 1,
  examples: [30],
});

const name = Text({ description: "The key's name.", minLength: 1, maxLength: 100, examples: ["till"] });

const params = {
  schema: Type.Object({
    keyId: Type.String({
      description: "The identifier of a key.",
      maxLength: 64,
      pattern: "^[0-9A-Za-z_]+$",
      examples: ["key_5fQ0c2mN8xWbT1Lz"],
    }),
  }),
  invalidError: keyNotFound,
};

const listKeys = defineOperation({
  name: "listKeys",
  method: "GET",
  path: "/keys",
  tag: account,
  summary: "List the account's keys",
  aliases: ["apikeys", "tokens", "credentials"],
  description:
    "Returns the keys of your account, oldest first, including expired and revoked ones, of which the oldest are " +
    "eventually deleted. A banned key has a `ban`. A test key cannot see live keys.",
  scopes: ["admin"],
  ...pagesOf({
    what: "keys",
    filters: { mode: Type.Optional(described(KeyMode, "Filters keys by mode.")) },
    position: Type.String({
      description: "When a key was created, and its `id`.",
      pattern: "^[0-9]{1,15}-[0-9A-Za-z_]{1,64}$",
      examples: ["1795262400000-key_5fQ0c2mN8xWbT1Lz"],
    }),
    schema: Type.Array(ListedApiKey, { title: "ApiKeys", description: "Keys, oldest first." }),
    examples: {
      "A key that is in use": [{ ...exampleKey, lastUsedAt: "2026-11-21T17:40:00.000Z" }],
      "A banned key": [{ ...exampleKey, lastUsedAt: "2026-11-21T17:40:00.000Z", ban: exampleBan }],
    },
  }),
});

const createKey = defineOperation({
  name: "createKey",
  method: "POST",
  path: "/keys",
  tag: account,
  summary: "Create a key",
  description:
    "Creates a key for your account and shows it once. The key cannot have a scope that the calling key lacks, and " +
    "cannot expire later: if the calling key expires, send an `expiresIn`. If it has a `limitPerMinute`, send one that is " +
    "no higher. A test key can create test keys only. " +
    `An account can have ${MAX_KEYS} valid keys of each mode.`,
  scopes: ["admin"],
  body: {
    schema: Type.Object(
      {
        name,
        scopes: scopeList,
        mode: Type.Optional(described(KeyMode, "Default: the mode of the calling key.")),
        expiresIn: Type.Optional(
          Int32({
            description: "Seconds until the key expires. By default it never expires.",
            minimum: MIN_LIFETIME,
            maximum: 315_360_000,
            [MEANING]: "seconds, such as 86400 for a day",
          }),
        ),
        limitPerMinute: Type.Optional(limit),
      },
      { title: "NewApiKey", description: "An API key to create.", additionalProperties: false },
    ),
    examples: {
      "A key for a till": { name: "till", scopes: ["read", "write"] },
      "A key for an hour": { name: "trial", scopes: ["read"], expiresIn: 3_600 },
      "A key for a script, which leaves requests to the till": { name: "script", scopes: ["read"], limitPerMinute: 30 },
    },
  },
  emits: ["key.created"],
  response: {
    status: 201,
    description: "The key.",
    schema: IssuedApiKey,
    examples: { "A key for a till": exampleIssuedKey },
  },
  // An invalid key: the calling key has ended since the request began.
  errors: [invalidRequest, invalidApiKey, tooManyKeys, scopeNotHeld, modeNotHeld, lifetimeExceedsKey, limitExceedsKey],
});

export type NewApiKey = Static<typeof createKey.body.schema>;

const updateKey = defineOperation({
  name: "updateKey",
  method: "PATCH",
  path: "/keys/{keyId}",
  tag: account,
  summary: "Change a key",
  description:
    "Changes the limit of a key of your account (JSON Merge Patch, RFC 7396). A key that has one cannot raise or remove " +
    "limits above its own.",
  scopes: ["admin"],
  params,
  body: {
    schema: Type.Object(
      {
        limitPerMinute: removable(limit, "Requests a minute, at most those of the plan; `null` removes it."),
      },
      {
        title: "ApiKeyPatch",
        description: "What to change of a key (JSON Merge Patch, RFC 7396).",
        additionalProperties: false,
      },
    ),
    examples: { "A lower limit": { limitPerMinute: 30 }, "No limit of its own": { limitPerMinute: null } },
  },
  emits: ["key.updated"],
  response: {
    status: 200,
    description: "The changed key.",
    schema: ApiKey,
    examples: { "A key with a limit": { ...exampleKey, limitPerMinute: 30 } },
    entityTag: true,
  },
  // An invalid request: a limit above that of the plan.
  errors: [invalidRequest, invalidApiKey, keyEnded, limitExceedsKey],
});

export type ApiKeyPatch = Static<typeof updateKey.body.schema>;

const rotateKey = defineOperation({
  name: "rotateKey",
  method: "POST",
  path: "/keys/{keyId}/rotate",
  tag: account,
  summary: "Replace a key",
  description:
    "Creates a key with the name, mode, scopes, limit and expiry of an old one and shows it once. The old key stays valid " +
    "for `overlap` seconds. The new key cannot expire later than the calling key. A key can replace itself: send an " +
    "`Idempotency-Key`, so that you can repeat the request if its response is lost.",
  testPanel: { disabled: "one click would replace a key that programs may use" },
  scopes: ["admin"],
  params,
  query: Type.Object({
    overlap: Int32({
      description:
        "Seconds for which the old key stays valid; 0 ends it at once. At least 60 if it is the calling key, so " +
        "that the request can be repeated.",
      minimum: 0,
      maximum: 2_592_000,
      default: 86_400,
    }),
  }),
  emits: ["key.rotated", "key.created"],
  response: {
    status: 201,
    description: "The new key and the old one.",
    schema: Type.Object(
      { ...IssuedApiKey.properties, replaced: ApiKey },
      { title: "ReplacingApiKey", description: "A new API key with its secret text, and the key that it replaces." },
    ),
    examples: {
      "A replacement key": {
        ...exampleIssuedKey,
        replaced: {
          ...exampleKey,
          id: "key_0aB7nR4vXq2LtY9e",
          hint: "psk_test_00…Tx0A",
          expiresAt: "2026-11-22T12:00:00.000Z",
        },
      },
    },
  },
  // An invalid request: too little overlap for the calling key.
  errors: [invalidRequest, invalidApiKey, keyEnded, tooManyKeys, scopeNotHeld, lifetimeExceedsKey, limitExceedsKey],
});

const revokeKey = defineOperation({
  name: "revokeKey",
  method: "DELETE",
  path: "/keys/{keyId}",
  tag: account,
  summary: "Revoke a key",
  aliases: ["revoke", "expire"],
  description:
    "Revokes a key of your account at once and permanently. The key stays in the list, so a repeated request succeeds. " +
    "An `admin` key can be revoked only if another one of its mode is valid for as long.",
  testPanel: { disabled: "one click would permanently revoke a key" },
  scopes: ["admin"],
  params,
  emits: ["key.revoked"],
  response: noContent("The key is revoked."),
  errors: [invalidApiKey, lastAdminKey],
});

export const keyOperations = [listKeys, createKey, updateKey, rotateKey, revokeKey] as const;
