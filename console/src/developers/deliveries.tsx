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
      <div class="fine">{status ?? (failure && wordOf(failure))}</div>
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
    { head: "Result", cell: (delivery) => <Outcome of={delivery} /> },
    {
      head: "Message",
      fillsWidth: true,
      cell: (delivery) => (
        <>
          <Link to={`/webhooks/${endpointId}/${delivery.id}`} class="title">
            {wordOf(delivery.type)} {delivery.eventId !== undefined && `(event ${delivery.eventId})`}
          </Link>
          <div class="fine">
            {attemptOf(delivery)}
            <span class="narrow">
              <Time at={delivery.at} />
            </span>
          </div>
        </>
      ),
    },
    { head: "Took", hidesOnNarrow: true, isNumber: true, cell: ({ durationMs }) => `${numberOf(durationMs)} ms` },
    { head: "When", hidesOnNarrow: true, cell: ({ at }) => <Time at={at} /> },
    {
      head: "",
      cell: (delivery) => (
        <span class="cell-actions">
          <RedeliverButton endpointId={endpointId} of={delivery} />
        </span>
      ),
    },
  ];
}
