import type { StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { PetName, usePet } from "../animals/pet-name.tsx";
import { Link } from "../router.tsx";
import { startSale } from "../selling/sell.tsx";
import { useMay, useSession } from "../session/session.ts";
import { moneyOf } from "../ui/money.ts";
import { RowButton } from "../ui/row-button.tsx";
import { Status } from "../ui/status.tsx";
import type { Column } from "../ui/table.tsx";
import { Countdown, Time } from "../ui/time.tsx";
import { EditOrder } from "./edit-order.tsx";
import { ExtendOrder } from "./extend.tsx";
import { actOn, type OrderAction, orderActions, orderName, sell } from "./orders.ts";

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
    {
      head: "Price",
      isNumber: true,
      narrow: withAnimal ? "below" : "under",
      cell: ({ price }) => price && moneyOf(price),
    },
    { head: "Seller", cell: ({ seller }) => <bdi>{seller}</bdi> },
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
  const pet = usePet(order.petId);
  const [isRunning, setRunning] = useState(false);
  const [dialog, setDialog] = useState<"edit" | "extend">();
  const close = () => setDialog(undefined);
  const act = async (action: OrderAction) => {
    if (action === sell && pet) return startSale(pet, order);
    setRunning(true);
    await actOn(petstore, order, action);
    setRunning(false);
  };
  return (
    <span class="row-actions">
      {(orderActions[order.status] ?? [])
        .filter(({ operation }) => may(operation))
        .map((action) => (
          <RowButton
            key={action.name}
            isFirst={action === sell}
            text={action.name}
            of={orderName(order)}
            disabled={isRunning}
            onClick={() => void act(action)}
          />
        ))}
      {may("updateStoreOrder") && order.status === "placed" && (
        <RowButton text="Extend" of={orderName(order)} onClick={() => setDialog("extend")} />
      )}
      {may("updateStoreOrder") && <RowButton text="Edit" of={orderName(order)} onClick={() => setDialog("edit")} />}
      {dialog === "edit" && <EditOrder of={order} onClose={close} />}
      {dialog === "extend" && <ExtendOrder of={order} onClose={close} />}
    </span>
  );
}
