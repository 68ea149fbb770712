import type { StoreOrder, StoreOrderPatch } from "petstore-client";
import { updateStoreOrderBody } from "../generated/contract.ts";
import { useAction } from "../service/action.ts";
import { useSession } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form/form.tsx";
import { say } from "../ui/toasts.tsx";
import { orderName, showOrder } from "./orders.ts";

/** Changes what may change of an order in any state: its metadata. */
export function EditOrder({ order, onClose }: { readonly order: StoreOrder; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const action = useAction(async (body: StoreOrderPatch) => {
    showOrder(await petstore.updateStoreOrder(order.id, body));
    say(`${orderName(order)}: saved`);
  });
  return (
    <Dialog title={`Edit ${orderName(order)}`} onClose={onClose}>
      <Form
        fields={updateStoreOrderBody}
        values={order as unknown as Record<string, unknown>}
        changesOnly
        action={action}
        submit="Save"
        onDone={onClose}
        onCancel={onClose}
      />
    </Dialog>
  );
}
