import type { Pet, StoreOrder } from "petstore-client";
import { Status } from "../ui/status.tsx";
import { Countdown, Time } from "../ui/time.tsx";

interface PetStateProps {
  readonly of: Pet;
  /** Its newest order. */
  readonly order: StoreOrder | undefined;
  /** True where there is no room for when it ends or ended. */
  readonly isShort?: boolean;
}

/** The state of an animal, and what its newest order says about it. An animal is reserved if an order holds it. */
export function PetState({ of: { status }, order, isShort }: PetStateProps) {
  const held = status === "pending" && order?.status === "placed" ? order : undefined;
  const sold = status === "sold" && order?.status === "confirmed" ? order : undefined;
  const reference = isShort && held?.reference;
  return (
    <>
      <Status of={held ? "placed" : status}>
        {reference ? (
          <>
            Reserved · <bdi>{reference}</bdi>
          </>
        ) : undefined}
      </Status>
      {held && !isShort && (
        <span class="fine">
          <Countdown until={held.expiresAt} /> left
        </span>
      )}
      {status === "available" && order?.status === "returned" && !isShort && <span class="fine">returned</span>}
      {sold?.confirmedAt && !isShort && (
        <span class="fine">
          <Time at={sold.confirmedAt} isShort />
          {sold.seller && <bdi>{`, ${sold.seller}`}</bdi>}
        </span>
      )}
    </>
  );
}
