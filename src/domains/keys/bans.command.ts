import { banEnd } from "../../contract/bans.ts";
import { timestampOf } from "../../contract/schemas.ts";
import type { Command } from "../../terminal/command.ts";
import { table } from "../../terminal/output.ts";
import { requireAccount } from "../shops/shop-options.ts";
import { type ApiKey, isValid } from "./keys.ts";
import { withKeys } from "./keys-for-command.ts";

/** A banned key, as the commands show it. */
function shown({ id: keyId, accountId, mode, hint, name }: ApiKey, end: number) {
  return { keyId, accountId, mode, hint, name, endsAt: timestampOf(end) };
}

const headings = ["KEY", "ACCOUNT", "MODE", "HINT", "NAME", "BANNED UNTIL"];

const listBans: Command = {
  name: "bans list",
  summary: "List the banned API keys.",
  example: "bans list --account acc_8sK2mX0qVb4TzR1c",
  options: { account: { meaning: "Only the keys of this account.", value: "ACCOUNT" } },
  run: ({ options: { account } }, context) =>
    withKeys(context, async (store, storage) => {
      await requireAccount(storage, account);
      const now = Date.now();
      const banned = (await store.list(account))
        .flatMap((key) => {
          const end = isValid(key, now) ? banEnd(key, now) : undefined;
          return end === undefined ? [] : [shown(key, end)];
        })
        .toSorted((one, other) => (one.endsAt < other.endsAt ? -1 : 1));
      const rows = banned.map((key) => [key.keyId, key.accountId, key.mode, key.hint, key.name, key.endsAt]);
      return { json: banned, text: rows.length > 0 ? table(headings, rows) : "No key is banned." };
    }),
};

const liftBan: Command = {
  name: "bans lift",
  summary: "Lift the ban of an API key. Running services notice it within a second.",
  description: "The next ban counts as the first. The requests that the account has used still count.",
  example: "bans lift key_5fQ0c2mN8xWbT1Lz",
  args: ["KEY_ID"],
  run: ({ args: [id = ""] }, context) =>
    withKeys(context, async (store) => {
      const { key, end } = await store.liftBan(id, Date.now());
      const lifted = shown(key, end);
      return { json: lifted, text: `The ban of key ${id} (${key.hint}) until ${lifted.endsAt} is lifted.` };
    }),
};

/** The commands that manage bans. */
export const banCommands: readonly Command[] = [listBans, liftBan];
