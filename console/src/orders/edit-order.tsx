import type { StoreOrder, StoreOrderPatch } from "petstore-client";
import { updateStoreOrderBody } from "../generated/contract.ts";
import { useAction } from "../service/action.ts";
import { useSession } from "../session/session.ts";
import { PriceControl, priceField } from "../shop/price-control.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { say } from "../ui/toasts.tsx";
import { orderName, showOrder } from "./orders.ts";

const fields = [priceField, ...updateStoreOrderBody];
const controls = { price: PriceControl };

/** Changes what an order says in any state, such as a price that was wrong. */
export function EditOrder({ of: order, onClose }: { readonly of: StoreOrder; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const action = useAction(async (body: StoreOrderPatch) => {
    showOrder(await petstore.updateStoreOrder(order.id, body));
    say(`${orderName(order)} saved`);
  });
  return (
    <FormDialog
      title={`Edit ${orderName(order)}`}
      fields={fields}
      controls={controls}
      values={order}
      changesOnly
      action={action}
      submit="Save"
      onClose={onClose}
    />
  );
}
