import type { StoreOrder, StoreOrderPatch } from "petstore-client";
import { updateStoreOrderBody } from "../generated/contract.ts";
import { useAction } from "../service/action.ts";
import { useSession } from "../session/session.ts";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { say } from "../ui/toasts.tsx";
import { orderName, showOrder } from "./orders.ts";

/** Changes the metadata of an order, the only part that can change in any state. */
export function EditOrder({ of: order, onClose }: { readonly of: StoreOrder; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const action = useAction(async (body: StoreOrderPatch) => {
    showOrder(await petstore.updateStoreOrder(order.id, body));
    say(`${orderName(order)} saved`);
  });
  return (
    <FormDialog
      title={`Edit ${orderName(order)}`}
      fields={updateStoreOrderBody}
      values={order}
      changesOnly
      action={action}
      submit="Save"
      onClose={onClose}
    />
  );
}
