import { banEnd } from "../../contract/bans.ts";
import { scopes as allScopes, modes, type Scope } from "../../contract/caller.ts";
import { INT32_MAX, timestampOf } from "../../contract/schemas.ts";
import type { Storage } from "../../storage/storage.ts";
import { type Command, type CommandContext, choiceOf, UsageError, withStore } from "../../terminal/command.ts";
import { iso, table } from "../../terminal/output.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../timing/clock.ts";
import { readCount, readName } from "../accounts/accounts.command.ts";
import { AccountStore } from "../accounts/accounts.store.ts";
import { requireAccount } from "../shops/shop-options.ts";
import { keySettings } from "./api-key.ts";
import { KeyStore } from "./keys.store.ts";
import { type ApiKey, banOf, type IssuedKey, isValid } from "./keys.ts";

/** The keys in a store, for a command. Rejects with `StorageUnusable` if the store belongs to another environment. */
export async function keysForCommand(storage: Storage, { store, settings }: CommandContext): Promise<KeyStore> {
  const isProduction = await store.requireEnvironment(storage);
  return new KeyStore(storage, { isProduction, cell: settings(keySettings).PETSTORE_CELL });
}

/** Runs work on the keys of the store, and closes it. */
function withKeys<T>(context: CommandContext, work: (keys: KeyStore, storage: Storage) => Promise<T>): Promise<T> {
  return withStore(context, async (storage) => work(await keysForCommand(storage, context), storage));
}

const createKey: Command = {
  name: "keys create",
  summary: "Create an API key for an account and show it once.",
  example: "keys create --account acc_8sK2mX0qVb4TzR1c --name till --scopes read,write --per-minute 60",
  options: {
    account: { meaning: "The account that the key belongs to.", value: "ACCOUNT", isRequired: true },
    name: { meaning: "The name of the key.", value: "NAME", fallback: "default" },
    scopes: {
      meaning: `Its scopes, separated by commas: ${allScopes.join(", ")}.`,
      value: "SCOPES",
      fallback: "read,write",
    },
    "per-minute": { meaning: "Its own limit of requests per minute, at most that of the plan.", value: "NUMBER" },
    mode: { meaning: "live or test. The default is live in production and test elsewhere.", value: "MODE" },
  },
  run: (given, context) => {
    const { options } = given;
    const name = readName(options["name"]);
    const scopes = readScopes(options["scopes"] ?? "");
    const mode = options["mode"] === undefined ? undefined : choiceOf(given, "mode", modes);
    const account = options["account"] ?? "";
    const limit = readCount("per-minute", options["per-minute"]) ?? null;
    return withKeys(context, async (keys, storage) => {
      const { perMinute } = await new AccountStore(storage).find(account);
      const most = Math.min(perMinute, INT32_MAX);
      if (limit !== null && limit > most) throw new UsageError(`--per-minute must be at most ${most}, the plan's.`);
      const issued = await keys.issueKey(account, name, scopes, Date.now(), mode, limit);
      return { json: shownIssued(issued), text: describeIssued(issued), ifLost: ifLost(issued) };
    });
  },
};

const listKeys: Command = {
  name: "keys list",
  summary: "List API keys and their bans. The keys themselves are not shown.",
  example: "keys list --account acc_8sK2mX0qVb4TzR1c",
  options: {
    account: { meaning: "Only the keys of this account.", value: "ACCOUNT" },
    banned: { meaning: "Only keys that are banned now." },
    unused: { meaning: "Only valid keys that were not used for this long, such as 30m, 24h or 90d.", value: "TIME" },
  },
  run: ({ options }, context) => {
    const { account, banned, unused } = options;
    const unusedFor = unused === undefined ? undefined : readDuration("unused", unused);
    return withKeys(context, async (store, storage) => {
      await requireAccount(storage, account);
      const now = Date.now();
      const keys = (await store.list(account)).filter(
        (key) =>
          (banned === undefined || banOf(key, now).ban !== undefined) &&
          (unusedFor === undefined || isUnused(key, unusedFor, now)),
      );
      const rows = keys.map((key) => [
        key.id,
        key.accountId,
        key.mode,
        key.hint,
        key.name,
        key.scopes.join(","),
        String(key.limitPerMinute ?? "plan"),
        stateOf(key, now),
        iso(key.expiresAt) ?? "never",
        iso(key.lastUsedAt) ?? "never",
      ]);
      return {
        json: keys.map((key) => Object.assign(shown(key), { ban: banOf(key, now).ban ?? null })),
        text: rows.length > 0 ? table(headings, rows) : "There are no such keys.",
      };
    });
  },
};

/** True for a valid key that is older than this many milliseconds and has not been used since. */
function isUnused(key: ApiKey, unused: number, now: number): boolean {
  return isValid(key, now) && (key.lastUsedAt ?? key.createdAt) <= now - unused;
}

const headings = ["ID", "ACCOUNT", "MODE", "HINT", "NAME", "SCOPES", "PER MINUTE", "STATE", "EXPIRES", "LAST USED"];

const revokeKey: Command = {
  name: "keys revoke",
  summary: "Revoke an API key permanently. A running service refuses it within a second.",
  example: "keys revoke key_5fQ0c2mN8xWbT1Lz",
  args: ["KEY_ID"],
  run: ({ args }, context) =>
    withKeys(context, async (keys) => {
      const key = await keys.revokeKey(args[0] ?? "", Date.now());
      return { json: shown(key), text: `Key ${key.id} (${key.hint}) is revoked.` };
    }),
};

const rotateKey: Command = {
  name: "keys rotate",
  summary: "Replace a key with a new one. The old key stays valid for a while.",
  example: "keys rotate key_5fQ0c2mN8xWbT1Lz --overlap 7d",
  args: ["KEY_ID"],
  options: {
    overlap: { meaning: "How long the old key stays valid: 90s, 30m, 24h, 7d, or 0.", value: "TIME", fallback: "24h" },
  },
  run: ({ args, options }, context) => {
    const overlap = readDuration("overlap", options["overlap"] ?? "");
    return withKeys(context, async (keys) => {
      const issued = await keys.rotateKey(args[0] ?? "", overlap, Date.now());
      const { id, hint, expiresAt } = issued.replaced;
      const end = overlap === 0 ? "has ended" : `is valid until ${iso(expiresAt)}`;
      return {
        json: { ...shownIssued(issued), replaced: shown(issued.replaced) },
        text: `${describeIssued(issued)}\nThe old key ${id} (${hint}) ${end}.`,
        ifLost: ifLost(issued),
      };
    });
  },
};

const liftBan: Command = {
  name: "bans lift",
  summary: "Lift the ban of an API key. Running services notice it within a second.",
  description: "The next ban counts as the first. The requests that the account has used still count.",
  example: "bans lift key_5fQ0c2mN8xWbT1Lz",
  args: ["KEY_ID"],
  run: ({ args: [keyId = ""] }, context) =>
    withKeys(context, async (store) => {
      const { key, end } = await store.liftBan(keyId, Date.now());
      const { accountId, mode, hint, name } = key;
      const endsAt = timestampOf(end);
      const text = `The ban of key ${keyId} (${hint}) until ${endsAt} is lifted.`;
      return { json: { keyId, accountId, mode, hint, name, endsAt }, text };
    }),
};

/** The commands that manage keys. */
export const keyCommands: readonly Command[] = [createKey, listKeys, rotateKey, revokeKey, liftBan];

/** Omits `plannedEnd`, because only the actual expiry matters, and the past bans. */
function shown(key: ApiKey) {
  const { plannedEnd: _, bannedUntil: _until, bans: _bans, ...rest } = key;
  return {
    ...rest,
    createdAt: iso(key.createdAt),
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
    lastUsedAt: iso(key.lastUsedAt),
  };
}

function shownIssued({ key, record }: IssuedKey) {
  return { key, ...shown(record) };
}

function describeIssued({ key, record }: IssuedKey): string {
  const title = record.mode === "live" ? "Live key" : "Test key";
  const scopes = record.scopes.join(", ") || "none";
  return `${key}\n\n${title} ${record.id} of account ${record.accountId}, scopes ${scopes}. It is not shown again.`;
}

function ifLost({ record }: IssuedKey): string {
  return `The key ${record.id} was created, but not shown: rotate or revoke it.`;
}

function stateOf(key: ApiKey, now: number): string {
  const { revokedAt, expiresAt } = key;
  if (revokedAt !== null) return `revoked ${iso(revokedAt)}`;
  if (expiresAt !== null && expiresAt <= now) return "expired";
  const end = banEnd(key, now);
  return end === undefined ? "valid" : `banned until ${timestampOf(end)}`;
}

function readScopes(text: string): Scope[] {
  const given = [...new Set(text.split(",").map((scope) => scope.trim()))];
  const known = allScopes.filter((scope) => given.includes(scope));
  if (known.length !== given.length) {
    throw new UsageError(`--scopes must be some of ${allScopes.join(", ")}, separated by commas.`);
  }
  return known;
}

const units: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** A duration such as `24h`, in milliseconds. */
function readDuration(option: string, text: string): number {
  const match = /^([0-9]{1,6})([smhd])$/.exec(text);
  if (text !== "0" && !match) throw new UsageError(`--${option} must be a time such as 90s, 30m, 24h or 7d, or 0.`);
  return match ? Number(match[1]) * (units[match[2] as string] as number) : 0;
}
