import type { Operation } from "../contract/operation.ts";
import type { Settings } from "../settings/setting.ts";
import type { ChangesOfStore } from "../storage/storage.ts";
import { AccountChanges, type AccountListener } from "./accounts/account-changes.store.ts";
import { AccountStore } from "./accounts/accounts.store.ts";
import type { Domain, Host } from "./domain.ts";
import type { KeyEnvironment } from "./keys/api-key.ts";
import { KeyAuthenticator } from "./keys/authenticator.ts";
import { KeyStore } from "./keys/keys.store.ts";
import { RequestRecorder } from "./requests/request-recorder.ts";
import { RequestStore } from "./requests/requests.store.ts";
import { UsageStore } from "./usage/usage.store.ts";
import { UsageCounter } from "./usage/usage-counter.ts";

/** The parts that identify callers, count their usage and record their requests. Every request needs them. */
export interface CallerParts {
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly authenticator: KeyAuthenticator;
  readonly usage: UsageCounter;
  readonly records: RequestRecorder;
  readonly requestStore: RequestStore;
  /**
   * Calls back after a change of an account, its keys or its shops: at once by this process, within 1 s by another.
   */
  readonly onAccountChange: (listener: AccountListener) => void;
}

/** What the service offers to each of the domains that it serves. */
export interface ServedHost extends Host {
  readonly callers: CallerParts;
  /** All operations that the service serves. */
  readonly operations: readonly Operation[];
}

/** A domain that the service can open. */
export type ServedDomain = Domain<Settings, ServedHost>;

export function openCallerParts(
  host: Host & { readonly storage: Pick<ChangesOfStore, "follow"> },
  environment: KeyEnvironment,
): CallerParts {
  const { storage, clock, expiry, metrics, repeat } = host;
  const forget: AccountListener = (accountId) => authenticator.forget(accountId);
  const changeListeners = [forget];
  const notify: AccountListener = (accountId) => {
    for (const listener of changeListeners) listener(accountId);
  };
  const accounts = new AccountStore(storage, notify);
  const keys = new KeyStore(storage, environment, forget);
  const authenticator = new KeyAuthenticator(storage, keys, environment, clock);
  storage.follow(new AccountChanges(notify));
  repeat({ name: "note_key_uses", by: "each", run: () => authenticator.noteUses() });

  const usageStore = new UsageStore(storage);
  const usage = new UsageCounter(usageStore, clock);
  metrics.counter(
    "petstore_usage_uncounted_total",
    "Requests that are missing in the usage because too many counts waited for the store, or may be missing because " +
      "the result of their commit is unknown.",
    () => usage.size.uncounted,
  );
  repeat({ name: "save_usage", by: "each", run: () => usage.save(), finish: () => usage.saveAll() });
  repeat({ name: "delete_old_usage", by: "leader", run: () => usageStore.sweep(expiry.now()) });
  const onAccountChange = (listener: AccountListener) => void changeListeners.push(listener);
  return { accounts, keys, authenticator, usage, onAccountChange, ...openRecords(host) };
}

function openRecords({ storage, clock, expiry, metrics, repeat }: Host) {
  const requestStore = new RequestStore(storage);
  const records = new RequestRecorder(requestStore, clock);
  metrics.counter(
    "petstore_requests_unrecorded_total",
    "Requests that changed something or failed but were not recorded: too many in a second, or too many waited.",
    () => records.size.unrecorded,
  );
  repeat({ name: "save_requests", by: "each", run: () => records.save(), finish: () => records.saveAll() });
  repeat({ name: "delete_old_requests", by: "leader", run: () => requestStore.sweep(expiry.now()) });
  return { records, requestStore };
}
