import type { WebhookDelivery } from "petstore-client";
import { Link } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { useMay, useSession } from "../session/session.ts";
import { Status } from "../ui/status.tsx";
import type { Column } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { say, sayFailure } from "../ui/toasts.tsx";
import { numberOf, wordOf } from "../ui/words.ts";
import { refreshDeliveriesSoon } from "./webhooks.ts";

interface DeliveryProps {
  readonly endpointId: string;
  readonly of: WebhookDelivery;
}

/** Why a message was sent, and the number of this delivery of it. */
export const attemptOf = ({ kind, attempt }: WebhookDelivery): string => `${wordOf(kind)}, attempt ${attempt}`;

export function Outcome({ of: { outcome, status, failure } }: { readonly of: WebhookDelivery }) {
  return (
    <>
      <Status of={outcome} />
      <span class="fine">{status ?? (failure && wordOf(failure))}</span>
    </>
  );
}

export function RedeliverButton({ endpointId, of }: DeliveryProps) {
  const { petstore } = useSession();
  const may = useMay();
  const action = useAction(async (_: void, retryOptions) => {
    try {
      await petstore.redeliverWebhooks(endpointId, { deliveryId: of.id }, retryOptions);
      const { state } = await petstore.getWebhookEndpoint(endpointId);
      say(`The message is queued${state === "enabled" ? "" : ` until you resume the ${state} endpoint`}`);
      refreshDeliveriesSoon();
    } catch (error) {
      sayFailure(wordOf(of.type), error);
      throw error;
    }
  });
  if (of.kind === "test" || !may("redeliverWebhooks")) return null;
  return (
    <button
      type="button"
      class="small"
      disabled={action.isRunning}
      aria-label={`Redeliver delivery ${of.id}`}
      onClick={() => void action.run()}
    >
      Redeliver
    </button>
  );
}

/** The columns of a table of deliveries. */
export function deliveryColumns(endpointId: string): readonly Column<WebhookDelivery>[] {
  return [
    { head: "Result", narrow: "end", cell: (delivery) => <Outcome of={delivery} /> },
    {
      head: "Message",
      fillsWidth: true,
      narrow: "name",
      cell: (delivery) => (
        <>
          <Link to={`/webhooks/${endpointId}/${delivery.id}`} class="title">
            {wordOf(delivery.type)} {delivery.eventId !== undefined && `(event ${delivery.eventId})`}
          </Link>
          <span class="fine">{attemptOf(delivery)}</span>
        </>
      ),
    },
    { head: "Took", isNumber: true, cell: ({ durationMs }) => `${numberOf(durationMs)} ms` },
    { head: "When", narrow: "under", cell: ({ at }) => <Time at={at} /> },
    {
      head: "",
      narrow: "acts",
      cell: (delivery) => (
        <span class="row-actions">
          <RedeliverButton endpointId={endpointId} of={delivery} />
        </span>
      ),
    },
  ];
}
