import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Skeleton } from "../ui/table.tsx";
import { EventLine } from "./event-text.tsx";
import { PETS } from "./pets.ts";

const EVENTS_SHOWN = 50;

/** What happened to an animal and its orders and who did it, the newest first. */
export function PetHistory({ id }: { readonly id: bigint }) {
  const { petstore } = useSession();
  const { data, error, reload } = useQuery(`${PETS}/${id}/history`, () =>
    petstore.listEvents({ petId: id, sort: "-id", limit: EVENTS_SHOWN }).page(),
  );
  return (
    <section>
      <h2>History</h2>
      <ErrorNote error={error} retry={reload} />
      {!data && !error && <Skeleton width={50} />}
      <ol class="events">
        {data?.map((event) => (
          <EventLine key={event.id} event={event} withAnimal={false} />
        ))}
      </ol>
    </section>
  );
}
