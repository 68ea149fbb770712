import type { WebhookEndpoint } from "petstore-client";
import { useState } from "preact/hooks";
import { Link } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { AddButton } from "../ui/action-button.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { CreateEndpoint } from "./webhook-dialogs.tsx";
import { EndpointState, successOf } from "./webhook-state.tsx";
import { WEBHOOKS } from "./webhooks.ts";

const columns: readonly Column<WebhookEndpoint>[] = [
  {
    head: "Endpoint",
    fillsWidth: true,
    narrow: "name",
    cell: ({ id, url, description }) => (
      <>
        <Link to={`/webhooks/${id}`} class="title">
          <bdi>{url}</bdi>
        </Link>
        {description && (
          <div class="fine">
            <bdi>{description}</bdi>
          </div>
        )}
      </>
    ),
  },
  { head: "State", narrow: "end", cell: (endpoint) => <EndpointState of={endpoint} /> },
  { head: "Succeeded", isNumber: true, cell: successOf },
  { head: "Last failure", cell: ({ lastFailure }) => lastFailure && <Time at={lastFailure.at} /> },
];

/** Where events of the shop are sent. */
export function Webhooks() {
  const { petstore } = useSession();
  const may = useMay();
  const [isAdding, setAdding] = useState(false);
  const query = useQuery(WEBHOOKS, () => petstore.listWebhookEndpoints());
  return (
    <Page
      title="Webhooks"
      actions={may("createWebhookEndpoint") && <AddButton isMain text="Add endpoint" onClick={() => setAdding(true)} />}
    >
      <Table<WebhookEndpoint>
        label="Webhook endpoints"
        query={query}
        columns={columns}
        empty={<p>Nothing is sent anywhere yet. Add an endpoint, and events of the shop are sent to its URL.</p>}
      />
      {isAdding && <CreateEndpoint onClose={() => setAdding(false)} />}
    </Page>
  );
}
