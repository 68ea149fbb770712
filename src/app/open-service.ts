import { type Config, isProduction, valuesOf } from "../config.ts";
import { errorsOf } from "../contract/operation-properties.ts";
import { DeletedAccounts } from "../domains/accounts/deleted-accounts.store.ts";
import { type CallerParts, openCallerParts, type ServedDomain } from "../domains/callers.ts";
import type { Domain, Host } from "../domains/domain.ts";
import { StoredResponseStore } from "../domains/idempotency/stored-responses.store.ts";
import { keySettings } from "../domains/keys/api-key.ts";
import { DeletedShops } from "../domains/shops/deleted-shops.store.ts";
import { openChanges } from "../http/changes/changes.ts";
import { openControls } from "../http/in-flight-controls.ts";
import type { LoadLimits } from "../http/load-shedder.ts";
import { SharedPages } from "../http/response/shared-pages.ts";
import type { WindowLimiter } from "../limits/limiter.ts";
import type { OpenStorage } from "../storage/storage.ts";
import { ownedRows } from "../storage/table.ts";
import { AbuseLog } from "../telemetry/abuse-log.ts";
import { Tracer } from "../telemetry/tracer.ts";
import { domains } from "./domains.ts";
import { sharedTables } from "./schema.ts";
import { serveOperations } from "./serve-operations.ts";

export interface ServiceOptions {
  readonly domains?: readonly ServedDomain[];
  /** When requests are queued or refused; if absent, the service's own limits. */
  readonly loadLimits?: LoadLimits;
  /** The most open streams; if absent, the service's own limit. */
  readonly maxStreams?: number | undefined;
}

/** The host of the service itself. Domains see less of it: they cannot close the store, and of limits they only read. */
export interface ServiceHost extends Host {
  readonly storage: OpenStorage;
  readonly limiter: WindowLimiter;
}

/** What `openService` opens and other parts use. */
export type Service = ReturnType<typeof openService>;

/**
 * Opens all that requests need besides the store and the limiter, and listens. `stopping` is aborted when the service
 * begins to stop. Throws `ListenError`.
 */
export function openService(
  config: Config,
  host: ServiceHost,
  stopping: AbortSignal,
  { domains: served = domains, loadLimits, maxStreams }: ServiceOptions,
) {
  const { storage, generation, clock, expiry, log, metrics, limiter, repeat, hasDueTimes } = host;
  const { PETSTORE_CELL: cell } = valuesOf(config, keySettings);
  const callers = openCallerParts(host, { isProduction: isProduction(config), cell });
  const { accounts, keys, authenticator, usage, records } = callers;
  const abuse = new AbuseLog({ ...host, showsAddresses: config.logAddresses });
  repeat({ name: "log_abuse", by: "each", run: async () => abuse.logEnded() });
  const tracer = config.traces && new Tracer(config.traces, host);
  const controls = openControls({ ...host, authenticator }, loadLimits, maxStreams);
  const { shedder, unread, deadlines, drains, delays, streams } = controls;
  const responses = new StoredResponseStore(storage, expiry);
  hasDueTimes(responses);
  const changes = openChanges(responses, storage, clock);
  const pages = new SharedPages(storage);
  repeat({ name: "delete_expired_responses", by: "leader", run: () => responses.deleteExpired() });
  const operations = served.flatMap((domain) => domain.operations);
  const bound = served.flatMap((domain) =>
    domain.open({ ...host, callers, operations }, valuesOf(config, domain.settings ?? {})),
  );
  const different = new Set(operations).symmetricDifference(new Set(bound.map(({ operation }) => operation)));
  if (different.size > 0) {
    const names = [...different].map(({ name }) => name).join(", ");
    throw new TypeError(`A domain must serve exactly the operations that it lists: see ${names}.`);
  }
  // Successes, and faults of the service: what error rates and alerts are made of. Other failures appear as they happen.
  for (const operation of operations) {
    const faults = errorsOf(operation).filter(({ status }) => status >= 500);
    const statuses = [operation.response.status, ...faults.map(({ status }) => status)];
    const codes = faults.map(({ code }) => code);
    metrics.expect(operation.name, statuses, codes);
  }
  scheduleDeletion(host, callers, served);
  const { server, base, docs, prepareConsole } = serveOperations(config, bound, {
    storage,
    generation,
    services: {
      store: storage,
      limiter,
      clock,
      authenticator,
      changes,
      pages,
      shedder,
      unread,
      deadlines,
      drains,
      delays,
      streams,
      usage,
      records,
      log,
      metrics,
      tracer,
      abuse,
    },
    monitoring: {
      checkStore: () => storage.check(),
      isStopping: () => stopping.aborted,
      metrics: () => metrics.expose(),
    },
  });
  return { accounts, keys, abuse, tracer, controls, server, base, docs, prepareConsole };
}

/** Registers the tasks that delete the data of deleted accounts and the old data of reset sandboxes. */
function scheduleDeletion(
  { storage, clock, log, limiter, repeat }: ServiceHost,
  { usage, onAccountChange }: CallerParts,
  served: readonly Pick<Domain, "tables">[],
): void {
  const tables = [...sharedTables, ...served.flatMap((domain) => domain.tables ?? [])];
  const shops = new DeletedShops(storage, ownedRows(tables, "shop"));
  const accounts = new DeletedAccounts({
    storage,
    clock,
    shops,
    tables: ownedRows(tables, "account_id"),
    forget: [(id) => limiter.forget(id), (id) => usage.forget(id)],
    onDeleted: (accountId) => log.info("account_deleted", { accountId }),
  });
  onAccountChange(() => accounts.noteChange());
  repeat({ name: "delete_shops", by: "leader", run: () => shops.deleteSome(clock.now()) });
  repeat({ name: "delete_accounts", by: "leader", run: () => accounts.deleteRemaining() });
}
