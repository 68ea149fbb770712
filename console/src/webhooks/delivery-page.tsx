import { stringify, type WebhookDelivery } from "petstore-client";
import { Link } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { numberOf, wordOf } from "../ui/words.ts";
import { attemptOf, deliveryColumns, Outcome, RedeliverButton } from "./deliveries.tsx";
import { WEBHOOKS } from "./webhooks.ts";

/** How many deliveries are searched for others of the same message. */
const MAX_SEARCHED = 100;

/** One delivery of a message: what was sent, the response, and other recent deliveries of it. */
export function DeliveryPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { petstore } = useSession();
  const may = useMay();
  const { endpointId = "", deliveryId = "" } = params;
  const key = `${WEBHOOKS}/${endpointId}`;
  const query = useQuery<WebhookDelivery>(`${key}/${deliveryId}`, () =>
    petstore.getWebhookDelivery(endpointId, deliveryId as unknown as bigint),
  );
  const { data } = query;
  const { data: newest } = useQuery(`${key}?newest`, () =>
    petstore.listWebhookDeliveries(endpointId, { limit: MAX_SEARCHED }).page(),
  );
  const eventId = data?.eventId;
  const { data: event, error: eventError } = useQuery(
    eventId !== undefined && may("getEvent") ? `events/${eventId}` : undefined,
    () => petstore.getEvent(eventId as bigint),
  );
  if (!data) {
    return (
      <Page title={`Delivery ${deliveryId}`}>
        <Loading of={query} />
      </Page>
    );
  }
  const { type, webhookId, at, durationMs, message, response } = data;
  const ofMessage = newest?.filter((other) => other.webhookId === webhookId) ?? [];
  return (
    <Page
      title={`${wordOf(type)}: delivery ${deliveryId}`}
      actions={<RedeliverButton endpointId={endpointId} of={data} />}
    >
      {message && (
        <div class="note bad" role="region" aria-label="What happened">
          <strong>{message}</strong>
        </div>
      )}
      <Facts
        of={[
          ["Result", <Outcome of={data} />],
          ["Message", attemptOf(data)],
          ["When", <Time at={at} />],
          ["Took", `${numberOf(durationMs)} ms`],
          ["Event", eventId === undefined ? undefined : <Link to={`/events/${eventId}`}>{String(eventId)}</Link>],
          ["Message id", <code>{webhookId}</code>],
          ["Endpoint", <Link to={`/webhooks/${endpointId}`}>All deliveries</Link>],
        ]}
      />
      {response && <CodeBlock title="Response" text={response} what="response" />}
      {event && <CodeBlock title="The event that was sent" text={stringify(event, 2)} what="event" />}
      <ErrorNote error={eventError} />
      {ofMessage.length > 1 && (
        <section>
          <h2>Recent deliveries of this message</h2>
          <Table<WebhookDelivery>
            label="Deliveries"
            items={ofMessage}
            query={query}
            columns={deliveryColumns(endpointId).slice(0, -1)}
            empty={null}
          />
        </section>
      )}
    </Page>
  );
}
