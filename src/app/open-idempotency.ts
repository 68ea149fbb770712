import type { Write } from "../contract/handler.ts";
import type { Host } from "../domains/domain.ts";
import { StoredResponseStore } from "../domains/idempotency/stored-responses.store.ts";
import { Idempotency } from "../http/idempotency/idempotency.ts";

/** Opens what makes requests safe to repeat: see `Idempotency`. */
export function openIdempotency({ storage, clock, expiry, metrics, repeat }: Host, write: Write): Idempotency {
  const responses = new StoredResponseStore(storage);
  const idempotency = new Idempotency(responses, write, clock, expiry);
  metrics.gauge(
    "petstore_idempotent_requests_running",
    "Requests in progress that have an idempotency key.",
    () => idempotency.running,
  );
  repeat({ name: "delete_expired_responses", by: "leader", run: () => responses.deleteExpired(expiry.now()) });
  return idempotency;
}
