import type { WebhookEndpoint } from "petstore-client";
import { Status } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";

/** True if the key that set the URL has ended, and the endpoint with it. */
export const hasExpired = ({ expiresAt }: WebhookEndpoint) =>
  expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();

/** The state of an endpoint, when it expires, and whether its messages arrive. */
export function EndpointState({ of }: { readonly of: WebhookEndpoint }) {
  const { state, failingSince, retriesAt, expiresAt } = of;
  return (
    <>
      <Status of={failingSince && state === "enabled" ? "failing" : state} />
      {expiresAt && (
        <span class="fine">
          {hasExpired(of) ? "expired" : "expires"} <Time at={expiresAt} />
        </span>
      )}
      {failingSince && (
        <span class="fine">
          since <Time at={failingSince} />
          {retriesAt && (
            <>
              , next delivery <Time at={retriesAt} />
            </>
          )}
        </span>
      )}
    </>
  );
}

/** The success rate of the last day, such as "98 %". */
export function successOf({ successRate24h }: WebhookEndpoint): string {
  return successRate24h === undefined ? "—" : `${Math.floor(successRate24h * 100 + 1e-9)} %`; // 0.29 * 100 < 29
}
