import type { StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { Link } from "../router.tsx";
import { useMay, useSession } from "../session/session.ts";
import { RowButton } from "../ui/row-button.tsx";
import { Status } from "../ui/status.tsx";
import type { Column } from "../ui/table.tsx";
import { Countdown, Time } from "../ui/time.tsx";
import { EditOrder } from "./edit-order.tsx";
import { changeOrder, orderActions, orderName } from "./orders.ts";
import { PetName } from "./pet-name.tsx";

/** The columns of a table of orders. `animal` is left out on the page of an animal. */
export function orderColumns(withAnimal: boolean): readonly Column<StoreOrder>[] {
  const animal: Column<StoreOrder> = {
    head: "Animal",
    cell: ({ petId }) => (
      <Link to={`/animals/${petId}`}>
        <PetName id={petId} />
      </Link>
    ),
  };
  return [
    {
      head: "Order",
      fillsWidth: withAnimal,
      cell: (order) => (
        <>
          <bdi>{orderName(order)}</bdi>
          <span class="narrow fine">
            <OrderTime of={order} />
          </span>
        </>
      ),
    },
    ...(withAnimal ? [animal] : []),
    { head: "Status", cell: ({ status }) => <Status of={status} /> },
    { head: "When", hidesOnNarrow: true, cell: (order) => <OrderTime of={order} /> },
    { head: "", cell: (order) => <OrderActions of={order} /> },
  ];
}

/** The time left for an open order; when it ended for others. */
function OrderTime({ of: order }: { readonly of: StoreOrder }) {
  const { status, expiresAt, placedAt, confirmedAt, cancelledAt, returnedAt } = order;
  if (status !== "placed")
    return <Time at={returnedAt ?? cancelledAt ?? confirmedAt ?? (status === "expired" ? expiresAt : placedAt)} />;
  return (
    <span class="number">
      <Countdown until={expiresAt} /> left
    </span>
  );
}

function OrderActions({ of: order }: { readonly of: StoreOrder }) {
  const { petstore } = useSession();
  const may = useMay();
  const [isRunning, setRunning] = useState(false);
  const [isEditing, setEditing] = useState(false);
  return (
    <span class="cell-actions">
      {(orderActions[order.status] ?? [])
        .filter(({ operation }) => may(operation))
        .map((action) => (
          <button
            key={action.name}
            type="button"
            disabled={isRunning}
            aria-label={`${action.name} ${orderName(order)}`}
            onClick={async () => {
              setRunning(true);
              await changeOrder(petstore, order, action);
              setRunning(false);
            }}
          >
            {action.name}
          </button>
        ))}
      {may("updateStoreOrder") && (
        <span class="wide">
          <RowButton text="Edit" of={orderName(order)} onClick={() => setEditing(true)} />
        </span>
      )}
      {isEditing && <EditOrder of={order} onClose={() => setEditing(false)} />}
    </span>
  );
}
