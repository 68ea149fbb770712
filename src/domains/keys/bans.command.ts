import { timestampOf } from "../../contract/schemas.ts";
import type { Storage } from "../../storage/storage.ts";
import { type Command, type CommandContext, CommandFailed } from "../../terminal/command.ts";
import { table } from "../../terminal/output.ts";
import { requireAccount } from "../shops/shop-options.ts";
import { type ApiKey, isValid, noSuchKey } from "./keys.ts";
import { accessBans, readBanEnds, withKeys } from "./keys-for-command.ts";

/** A key that is banned. */
interface BannedKey extends Pick<ApiKey, "mode" | "hint" | "name" | "accountId"> {
  readonly keyId: string;
  readonly endsAt: string;
}

/** The banned keys, ordered by the end of their bans. */
async function bannedOf(context: CommandContext, storage: Storage, keys: readonly ApiKey[]): Promise<BannedKey[]> {
  const ends = await readBanEnds(context, storage, keys);
  return keys
    .flatMap(({ id: keyId, accountId, mode, hint, name }) => {
      const end = ends.get(keyId);
      return end === undefined ? [] : [{ keyId, accountId, mode, hint, name, endsAt: timestampOf(end * 1000) }];
    })
    .toSorted((one, other) => (one.endsAt < other.endsAt ? -1 : 1));
}

const headings = ["KEY", "ACCOUNT", "MODE", "HINT", "NAME", "BANNED UNTIL"];

const listBans: Command = {
  name: "bans list",
  summary: "List the banned API keys.",
  description:
    "With PETSTORE_DATABASE_URL and without PETSTORE_VALKEY_URL, each process bans keys alone: a key may be banned in\n" +
    "some processes only.",
  example: "bans list --account acc_8sK2mX0qVb4TzR1c",
  options: { account: { meaning: "Only the keys of this account.", value: "ACCOUNT" } },
  run: ({ options: { account } }, context) =>
    withKeys(context, async (store, storage) => {
      await requireAccount(storage, account);
      const now = Date.now();
      const valid = (await store.list(account)).filter((key) => isValid(key, now));
      const banned = await bannedOf(context, storage, valid);
      const rows = banned.map((key) => [key.keyId, key.accountId, key.mode, key.hint, key.name, key.endsAt]);
      return { json: banned, text: rows.length > 0 ? table(headings, rows) : "No key is banned." };
    }),
};

const liftBan: Command = {
  name: "bans lift",
  summary: "Lift the ban of an API key. Running services notice it within a second.",
  description:
    "It also deletes the key's strikes, and the next ban counts as the first. The requests that the account has used\n" +
    "still count.",
  example: "bans lift key_5fQ0c2mN8xWbT1Lz",
  args: ["KEY_ID"],
  run: ({ args: [id = ""] }, context) =>
    withKeys(context, async (store, storage) => {
      const key = await storage.read(store.find(id));
      if (!key) throw noSuchKey(id);
      const [banned] = await bannedOf(context, storage, [key]);
      if (!banned) throw new CommandFailed("key_not_banned", `The key ${id} is not banned.`);
      const { keyId, accountId, mode } = banned;
      const lift = () => context.store.liftBan(storage, { keyId, accountId, mode });
      await accessBans(lift, "The ban may not have been lifted, so run the command again");
      return { json: banned, text: `The ban of key ${id} (${key.hint}) until ${banned.endsAt} is lifted.` };
    }),
};

/** The commands that manage bans. */
export const banCommands: readonly Command[] = [listBans, liftBan];
