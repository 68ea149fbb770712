import { bind } from "../../contract/handler.ts";
import type { EventType } from "../../contract/operation.ts";
import type { SettingValues } from "../../settings/setting.ts";
import { defineDomain, type Host } from "../domain.ts";
import { deleteOldDeliveries, deliveryTable } from "./deliveries/deliveries.store.ts";
import { attemptTable, redeliveryTable } from "./dispatch/dispatch.statements.ts";
import { DispatchStore } from "./dispatch/dispatch.store.ts";
import { Dispatcher } from "./dispatch/dispatcher.ts";
import { disabledEndpoints } from "./endpoints/disabled-endpoints.store.ts";
import { endpointTable } from "./endpoints/endpoints.statements.ts";
import { EndpointStore } from "./endpoints/endpoints.store.ts";
import { listenCommand } from "./listen/listen.command.ts";
import { requireSecretKeys } from "./secrets/endpoint-secrets.ts";
import { openSecretKeys } from "./secrets/secret-keys.ts";
import { AddressPolicy } from "./sending/addresses.ts";
import { send, type systemNetwork } from "./sending/send.ts";
import { webhookDueTimes } from "./webhook-due-times.store.ts";
import { webhookCommands } from "./webhooks.command.ts";
import { type WebhookParts, webhookHandlers, webhookOperations } from "./webhooks.handlers.ts";
import { webhookEventTypes } from "./webhooks.schemas.ts";
import { webhookSettings } from "./webhooks.settings.ts";

/** Webhooks of these types of events, sent over a network. */
export function webhooksDomain(types: readonly EventType[], networkOf: typeof systemNetwork) {
  const operations = webhookOperations(types);
  return defineDomain<typeof webhookSettings>({
    name: "webhooks",
    operations,
    eventTypes: webhookEventTypes,
    commands: [...webhookCommands, listenCommand],
    settings: webhookSettings,
    tables: [endpointTable, attemptTable, redeliveryTable, deliveryTable],
    check: ({ storage, dataFolder }, { PETSTORE_SECRET_KEY }) =>
      requireSecretKeys(storage, PETSTORE_SECRET_KEY, dataFolder),
    open: (host, settings) => bind(operations, webhookHandlers(operations, openWebhooks(host, settings, networkOf))),
  });
}

/**
 * Opens what serves webhook endpoints, and delivers to them in the background; undefined if there is no key for their
 * secrets. Throws `FileError`.
 */
function openWebhooks(
  host: Host,
  { PETSTORE_SECRET_KEY, PETSTORE_WEBHOOK_DENY = [] }: SettingValues<typeof webhookSettings>,
  networkOf: typeof systemNetwork,
): WebhookParts | undefined {
  const { clock, dataFolder, isDevelopment } = host;
  host.hasDueTimes(webhookDueTimes(clock));
  const secretKeys = openSecretKeys(PETSTORE_SECRET_KEY, dataFolder);
  if (!secretKeys) return undefined;
  const policy = new AddressPolicy({ isDevelopment, denied: PETSTORE_WEBHOOK_DENY });
  const endpoints = new EndpointStore(clock, secretKeys);
  deliver(host, { policy, endpoints, secretKeys }, networkOf);
  return {
    endpoints,
    policy,
    secretKeys,
    now: () => clock.now(),
  };
}

/** Registers the tasks and metrics of the deliveries, which the leader of all processes makes. */
function deliver(
  { storage, generation, clock, expiry, log, metrics, repeat }: Host,
  { policy, endpoints, secretKeys }: Pick<WebhookParts, "policy" | "endpoints" | "secretKeys">,
  networkOf: typeof systemNetwork,
): void {
  const network = networkOf(policy, clock);
  const store = new DispatchStore(storage, endpoints, clock);
  repeat({ name: "disable_expired_endpoints", by: "leader", run: () => store.disableExpired() });
  const dispatcher = new Dispatcher({
    store,
    storage,
    generation,
    clock,
    secretKeys,
    send: (message, cancel) => send(message, network, cancel),
    random: Math.random,
    disabled: ({ id, accountId }) => log.warn("webhook_endpoint_disabled", { endpointId: id, accountId }),
    failed: (error) => log.failing("task_failed", error, { task: "deliver_webhooks" }),
  });
  const { counts } = dispatcher;
  metrics.counter("petstore_webhooks_delivered_total", "Webhook deliveries that succeeded.", () => counts.succeeded);
  metrics.counter("petstore_webhooks_failed_total", "Webhook deliveries that failed.", () => counts.failed);
  metrics.counter(
    "petstore_webhook_endpoints_disabled_total",
    "Webhook endpoints that were disabled, because they have failed for 5 days or returned 410.",
    () => counts.disabled,
  );
  const disabled = disabledEndpoints(storage, clock);
  metrics.gauge(
    "petstore_webhook_endpoints_disabled",
    "Webhook endpoints that are disabled now, counted once a minute by the process that delivers.",
    disabled.last,
  );
  repeat({ name: "count_disabled_endpoints", by: "leader", run: () => disabled.count() });
  metrics.gauge("petstore_webhooks_in_progress", "Webhook deliveries in progress.", () => dispatcher.inProgress);
  metrics.gauge(
    "petstore_webhook_lag_seconds",
    "Age of the oldest event that was not tried yet at an endpoint that does not wait after failures.",
    () => dispatcher.lag,
  );
  repeat({
    name: "deliver_webhooks",
    by: "leader",
    run: () => dispatcher.run(),
    finish: () => dispatcher.finish(),
  });
  repeat({
    name: "delete_old_webhook_deliveries",
    by: "leader",
    run: () => deleteOldDeliveries(storage, expiry.now()),
  });
}
