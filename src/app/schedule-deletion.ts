import { DeletedAccounts } from "../domains/accounts/deleted-accounts.store.ts";
import type { CallerParts } from "../domains/callers.ts";
import type { Domain, Host } from "../domains/domain.ts";
import { DeletedShops } from "../domains/shops/deleted-shops.store.ts";

/** Registers the tasks that delete the data of deleted accounts and the old data of reset sandboxes. */
export function scheduleDeletion(
  { storage, clock, log, limiter, repeat }: Host,
  { usage, onAccountChange }: CallerParts,
  domains: readonly Pick<Domain, "shopTables" | "accountTables">[],
): void {
  const shops = new DeletedShops(
    storage,
    domains.flatMap(({ shopTables = [] }) => shopTables),
  );
  const accounts = new DeletedAccounts({
    storage,
    clock,
    shops,
    tables: domains.flatMap(({ accountTables = [] }) => accountTables),
    forget: [(id) => limiter.forget(id), (id) => usage.forget(id)],
    onDeleted: (accountId) => log.info("account_deleted", { accountId }),
  });
  onAccountChange(() => accounts.noteChange());
  repeat({ name: "delete_shops", by: "leader", run: () => shops.deleteSome(clock.now()) });
  repeat({ name: "delete_accounts", by: "leader", run: () => accounts.deleteRemaining() });
}
