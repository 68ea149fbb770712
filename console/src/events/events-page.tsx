import type { ListEventsQuery } from "petstore-client";
import { choicesOf } from "../contract.ts";
import { listEventsQuery } from "../generated/contract.ts";
import { usePlace } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { NumberFilter, SelectFilter } from "../ui/filters.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { NONE_HERE, Pager } from "../ui/pager.tsx";
import { wordOf } from "../ui/words.ts";
import { EVENT_LOG, EventLine } from "./event-text.tsx";

const PAGE_SIZE = 50;
const types = choicesOf(listEventsQuery, "type").map((type) => [type, wordOf(type)] as const);

/** What has happened in the shop, the newest first. */
export function Events() {
  const { petstore } = useSession();
  const { type, animal, order, cursor } = usePlace().query;
  const listQuery = { sort: "-id", limit: PAGE_SIZE, type: type && [type], petId: animal, orderId: order, cursor };
  const query = useQuery(`${EVENT_LOG}${JSON.stringify(listQuery)}`, () =>
    petstore.listEvents(listQuery as unknown as ListEventsQuery).page(),
  );
  const { data } = query;
  return (
    <Page title="Events">
      <div class="filters" role="search" aria-label="Filters">
        <SelectFilter name="type" label="Type" all="All types" choices={types} />
        <NumberFilter name="animal" label="Animal id" />
        <NumberFilter name="order" label="Order id" />
      </div>
      <Loading of={query} />
      {data?.length === 0 && <p class="empty">{data.next ? NONE_HERE : "No event matches the filters."}</p>}
      {data && (
        <div class="list" hidden={data.length === 0}>
          <ol class="lines" aria-label="Events">
            {data.map((event) => (
              <EventLine key={event.id} of={event} />
            ))}
          </ol>
          <Pager next={data.next} />
        </div>
      )}
    </Page>
  );
}
