import { PETS } from "../animals/pets.ts";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { Loading } from "../ui/loading.tsx";
import { DeedLine, deedsOf } from "./deeds.tsx";

const EVENTS_SHOWN = 50;

interface PetHistoryProps {
  readonly id: bigint;
  /** Only what happened to this order of it. */
  readonly orderId?: bigint;
}

/** What happened to an animal and its orders and who did it, the newest first. */
export function PetHistory({ id, orderId }: PetHistoryProps) {
  const { petstore } = useSession();
  const query = useQuery(`${PETS}/${id}/history${orderId ? `/${orderId}` : ""}`, () =>
    petstore.listEvents({ petId: id, ...(orderId && { orderId }), sort: "-id", limit: EVENTS_SHOWN }).page(),
  );
  return (
    <section>
      <h2>History</h2>
      <Loading of={query} />
      {query.data && (
        <ol class="list lines" aria-label="History">
          {deedsOf(query.data).map((deed) => (
            <DeedLine key={deed.event.id} of={deed} withSubject={false} />
          ))}
        </ol>
      )}
    </section>
  );
}
