import type { Write } from "../contract/operation.ts";
import type { Host } from "../domains/domain.ts";
import { RetryStore } from "../domains/idempotency/stored-responses.store.ts";
import { Idempotency } from "../http/idempotency/idempotency.ts";

/** What makes requests safe to send again: see `Idempotency`. */
export function openRetries({ storage, clock, metrics, repeat }: Host, write: Write): Idempotency {
  const answers = new RetryStore(storage);
  const retries = new Idempotency(answers, write, clock);
  metrics.gauge("petstore_retries_running", "Requests with an idempotency key that run.", () => retries.running);
  repeat({ name: "remove_expired_responses", by: "leader", run: () => answers.forgetExpired(clock.now()) });
  return retries;
}
