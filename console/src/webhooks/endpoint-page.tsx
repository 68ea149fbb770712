import type {
  ListWebhookDeliveriesQuery,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointPatch,
} from "petstore-client";
import { useState } from "preact/hooks";
import type { OperationName } from "../generated/contract.ts";
import { filterBy, usePlace } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { invalidate, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { Segments } from "../ui/segments.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { say } from "../ui/toasts.tsx";
import { wordOf } from "../ui/words.ts";
import { deliveryColumns } from "./deliveries.tsx";
import { askToDelete, EditEndpoint, Redeliver, RotateSecret } from "./webhook-dialogs.tsx";
import { EndpointState, hasExpired, successOf } from "./webhook-state.tsx";
import { refreshDeliveriesSoon, WEBHOOKS } from "./webhooks.ts";

const PAGE_SIZE = 50;
const views = [
  ["", "All"],
  ["succeeded", "Succeeded"],
  ["failed", "Failed"],
] as const;

const dialogs = { edit: EditEndpoint, redeliver: Redeliver, rotate: RotateSecret } as const;
const buttons: readonly (readonly [keyof typeof dialogs, text: string, needs: OperationName])[] = [
  ["redeliver", "Redeliver events", "redeliverWebhooks"],
  ["edit", "Edit", "updateWebhookEndpoint"],
  ["rotate", "Rotate secret", "rotateWebhookSecret"],
];

/** One webhook endpoint, and all deliveries to it. */
export function EndpointPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { petstore } = useSession();
  const id = params["endpointId"] ?? "";
  const query = useQuery<WebhookEndpoint>(`${WEBHOOKS}/${id}`, () => petstore.getWebhookEndpoint(id));
  if (query.data) return <EndpointDetails of={query.data} />;
  return (
    <Page title="Webhook">
      <Loading of={query} />
    </Page>
  );
}

function EndpointDetails({ of: endpoint }: { readonly of: WebhookEndpoint }) {
  const { petstore, key } = useSession();
  const may = useMay();
  const [open, setOpen] = useState<{ dialog: keyof typeof dialogs; missed?: WebhookEndpoint["missed"] }>();
  const { id, url, types, description, state, publicKey, lastFailure, createdAt, expiresAt } = endpoint;
  const test = useAction(async (_: void, retryOptions) => {
    await petstore.testWebhookEndpoint(id, retryOptions);
    say("A test message is sent");
    refreshDeliveriesSoon();
  });
  const isStopped = state !== "enabled";
  const isExpired = hasExpired(endpoint);
  const update = async (patch: WebhookEndpointPatch, done: string) => {
    await petstore.updateWebhookEndpoint(id, patch);
    say(done);
    invalidate(WEBHOOKS);
  };
  const keep = useAction(() => update({ expiresAt: null }, "The endpoint no longer expires"));
  const pause = useAction(async () => {
    // One that has expired is resumed only without its expiry.
    const patch = { paused: !isStopped, ...(isExpired && { expiresAt: null }) };
    await update(patch, isStopped ? "Endpoint resumed" : "Endpoint paused");
    // A paused one automatically gets what it missed.
    if (state === "disabled" && may("redeliverWebhooks")) setOpen({ dialog: "redeliver", missed: endpoint.missed });
  });
  const Shown = open && dialogs[open.dialog];
  return (
    <Page
      title={url}
      isName
      actions={
        <>
          {may("testWebhookEndpoint") && (
            <button type="button" disabled={test.isRunning} onClick={() => void test.run()}>
              Send a test
            </button>
          )}
          {may("updateWebhookEndpoint") && expiresAt && !isExpired && !key.expiresAt && (
            <button type="button" disabled={keep.isRunning} onClick={() => void keep.run()}>
              Keep
            </button>
          )}
          {may("updateWebhookEndpoint") && (
            <button type="button" disabled={pause.isRunning} onClick={() => void pause.run()}>
              {isStopped ? "Resume" : "Pause"}
            </button>
          )}
          {buttons.map(
            ([dialog, text, needs]) =>
              may(needs) && (
                <button key={dialog} type="button" onClick={() => setOpen({ dialog })}>
                  {text}
                </button>
              ),
          )}
          {may("deleteWebhookEndpoint") && (
            <button type="button" class="bad" onClick={() => askToDelete(petstore, endpoint)}>
              Delete
            </button>
          )}
        </>
      }
    >
      <ErrorNote error={test.error ?? pause.error ?? keep.error} />
      <Facts
        of={[
          ["State", <EndpointState of={endpoint} />],
          ["Succeeded in 24 hours", successOf(endpoint)],
          ["Events", types.includes("*") ? "All" : types.map(wordOf).join(", ")],
          ["Description", description ? <bdi>{description}</bdi> : undefined],
          ["Created", <Time at={createdAt} />],
          ["Public key", publicKey && <code>{publicKey}</code>],
        ]}
      />
      {isExpired && (
        <div class="note bad" role="region" aria-label="Expired">
          The key that set the URL has expired, and the endpoint with it: nothing is sent. With a key that does not
          expire, resume the endpoint, then redeliver what it missed.
        </div>
      )}
      {lastFailure && isFailing(endpoint) && !isExpired && (
        <div class="note bad" role="region" aria-label="Last failure">
          <p>
            <strong>{lastFailure.message}</strong> {lastFailure.status}
          </p>
          <p>
            {state === "disabled"
              ? "The service has disabled the endpoint: nothing is sent. Correct the receiver, then resume the endpoint, and redeliver what it missed."
              : "Correct the receiver. Messages that failed are retried automatically, up to nine times over three days."}
          </p>
        </div>
      )}
      <Deliveries endpointId={id} />
      {Shown && <Shown of={endpoint} missed={open.missed} onClose={() => setOpen(undefined)} />}
    </Page>
  );
}

const isFailing = ({ state, failingSince }: WebhookEndpoint) => state === "disabled" || failingSince !== undefined;

function Deliveries({ endpointId }: { readonly endpointId: string }) {
  const { petstore } = useSession();
  const { outcome, cursor } = usePlace().query;
  const listQuery = { limit: PAGE_SIZE, outcome, cursor };
  const query = useQuery(`${WEBHOOKS}/${endpointId}?${JSON.stringify(listQuery)}`, () =>
    petstore.listWebhookDeliveries(endpointId, listQuery as unknown as ListWebhookDeliveriesQuery).page(),
  );
  return (
    <section>
      <h2>Deliveries</h2>
      <div class="filters" role="search" aria-label="Filters">
        <Segments
          label="Result"
          choices={views}
          chosen={outcome ?? ""}
          choose={(chosen) => filterBy({ outcome: chosen })}
        />
      </div>
      <Table<WebhookDelivery>
        label="Deliveries"
        query={query}
        columns={deliveryColumns(endpointId)}
        foot={<Pager next={query.data?.next} />}
        empty={<p>{outcome ? "No delivery had this result." : "Nothing was sent in the last 7 days. Send a test."}</p>}
      />
    </section>
  );
}
