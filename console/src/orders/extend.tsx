import type { StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { useAction } from "../service/action.ts";
import { useSession } from "../session/session.ts";
import { addDays, browserZone, dateIn, useZone } from "../shop/days.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { say } from "../ui/toasts.tsx";
import { orderName, showOrder } from "./orders.ts";
import { Until, untilText, useUntil } from "./until.tsx";

/** Moves the end of a reservation to a later day. */
export function ExtendOrder({ of: order, onClose }: { readonly of: StoreOrder; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const first = addDays(dateIn(useZone() ?? browserZone(), Date.parse(order.expiresAt) - 1), 1);
  const [date, choose] = useState(first);
  const until = useUntil();
  const action = useAction(async (body: ReturnType<typeof until>) => {
    const extended = await petstore.updateStoreOrder(order.id, body);
    showOrder(extended);
    say(`${orderName(order)} extended ${untilText(date, extended)}`);
  });
  return (
    <Dialog title={`Extend ${orderName(order)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(until(date)).then((isDone) => isDone && onClose());
        }}
      >
        <Until value={date} choose={choose} first={first} />
        <ErrorNote error={action.error} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={action.isRunning}>
            Extend
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
