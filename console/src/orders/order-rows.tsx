import type { StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { PetName } from "../animals/pet-name.tsx";
import { Link } from "../router.tsx";
import { useMay, useSession } from "../session/session.ts";
import { moneyOf } from "../ui/money.ts";
import { RowButton } from "../ui/row-button.tsx";
import { Status } from "../ui/status.tsx";
import type { Column } from "../ui/table.tsx";
import { Countdown, Time } from "../ui/time.tsx";
import { EditOrder } from "./edit-order.tsx";
import { changeOrder, orderActions, orderName } from "./orders.ts";

/** The columns of a table of orders. `animal` is left out on the page of an animal. */
export function orderColumns(withAnimal: boolean): readonly Column<StoreOrder>[] {
  const animal: Column<StoreOrder> = {
    head: "Animal",
    narrow: "name",
    cell: ({ petId }) => (
      <Link to={`/animals/${petId}`} class="title">
        <PetName id={petId} />
      </Link>
    ),
  };
  return [
    ...(withAnimal ? [animal] : []),
    {
      head: "Order",
      narrow: withAnimal ? "under" : "name",
      cell: (order) => (
        <Link to={`/orders/${order.id}`}>
          <bdi>{orderName(order)}</bdi>
        </Link>
      ),
    },
    {
      head: "Status",
      narrow: "end",
      cell: (order) => <OrderState of={order} />,
    },
    { head: "Price", isNumber: true, cell: ({ price }) => price && moneyOf(price) },
    { head: "Seller", cell: ({ confirmedBy }) => confirmedBy && <bdi>{confirmedBy.name}</bdi> },
    { head: "", ...(!withAnimal && { narrow: "acts" as const }), cell: (order) => <OrderActions of={order} /> },
  ];
}

/** The status of an order, and since when or until when it has it. */
export function OrderState({ of: order }: { readonly of: StoreOrder }) {
  return (
    <>
      <Status of={order.status} />
      <span class="fine">
        <OrderTime of={order} />
      </span>
    </>
  );
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

/** What can be done with an order. */
export function OrderActions({ of: order }: { readonly of: StoreOrder }) {
  const { petstore } = useSession();
  const may = useMay();
  const [isRunning, setRunning] = useState(false);
  const [isEditing, setEditing] = useState(false);
  return (
    <span class="row-actions">
      {(orderActions[order.status] ?? [])
        .filter(({ operation }) => may(operation))
        .map((action) => (
          <RowButton
            key={action.name}
            isFirst={action.operation === "confirmStoreOrder"}
            text={action.name}
            of={orderName(order)}
            disabled={isRunning}
            onClick={async () => {
              setRunning(true);
              await changeOrder(petstore, order, action);
              setRunning(false);
            }}
          />
        ))}
      {may("updateStoreOrder") && <RowButton text="Edit" of={orderName(order)} onClick={() => setEditing(true)} />}
      {isEditing && <EditOrder of={order} onClose={() => setEditing(false)} />}
    </span>
  );
}
