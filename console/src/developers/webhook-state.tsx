import type { WebhookEndpoint } from "petstore-client";
import { Status } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

/** The state of an endpoint, and whether its messages arrive. */
export function EndpointState({ of: { state, failingSince, retriesAt } }: { readonly of: WebhookEndpoint }) {
  return (
    <>
      <Status of={failingSince && state === "enabled" ? "failing" : state} />
      {failingSince && (
        <div class="fine">
          since <Time at={failingSince} />
          {retriesAt && (
            <>
              , next delivery <Time at={retriesAt} />
            </>
          )}
        </div>
      )}
    </>
  );
}

/** The success rate of the last day, such as "98 %". */
export function successOf({ successRate24h }: WebhookEndpoint): string {
  return successRate24h === undefined ? "—" : `${Math.floor(successRate24h * 100 + 1e-9)} %`; // 0.29 * 100 < 29
}
