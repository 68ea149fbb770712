import type { CurrentKey, LimitWindow, PetStatus, StoreOrder } from "petstore-client";
import { choicesOf } from "../contract.ts";
import { listPetsQuery } from "../generated/contract.ts";
import { Link } from "../router.tsx";
import { isLive } from "../service/live.ts";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { EventLine } from "../shop/event-text.tsx";
import { useFigures } from "../shop/figures.ts";
import { orderColumns } from "../shop/order-rows.tsx";
import { ORDERS } from "../shop/orders.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { type Fact, Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { Skeleton, Table } from "../ui/table.tsx";
import { Countdown } from "../ui/time.tsx";
import { countOf, numberOf, wordOf } from "../ui/words.ts";
import { useWatchable } from "../watchable.ts";

const ORDERS_SHOWN = 10;
const EVENTS_SHOWN = 20;
const statuses = choicesOf(listPetsQuery, "status") as readonly PetStatus[];
const todayCounts = ["sold", "added", "expired", "returned"] as const;
const columns = orderColumns(true);

/** The current state of the shop. */
export function Today() {
  const may = useMay();
  return (
    <Page title="Today">
      {may("getShop") && <Figures />}
      {may("listStoreOrders") && <OpenOrders />}
      {may("listEvents") && <Latest />}
      <Limits />
    </Page>
  );
}

/** The animals by status, as a bar and as figures that link to them, and what has happened today. */
function Figures() {
  const query = useFigures();
  if (!query.data) return <Loading of={query} />;
  const { animals, today } = query.data;
  return (
    <div class="figures">
      <section aria-label="Animals">
        <h2>
          <Link to="/animals">{countOf(animals.total, "animal")}</Link>
        </h2>
        {animals.total === 0 && (
          <p class="fine">
            Add <Link to="/categories">a category</Link> first, then <Link to="/animals">an animal</Link>.
          </p>
        )}
        <div class="shares" aria-hidden="true">
          {statuses.map((status) => (
            <span key={status} class={status} style={{ flexGrow: animals[status] }} />
          ))}
          <span style={{ flexGrow: animals.withoutStatus }} />
        </div>
        <Facts
          of={[
            ...statuses.map(
              (status): Fact => [
                <Status of={status} />,
                <Link to="/animals" query={{ status }} class="figure">
                  {numberOf(animals[status])}
                </Link>,
              ],
            ),
            [
              <Status of={undefined} />,
              animals.withoutStatus > 0 ? <span class="figure">{numberOf(animals.withoutStatus)}</span> : undefined,
            ],
          ]}
        />
      </section>
      <section aria-label="So far today">
        <h2>So far today (UTC)</h2>
        <Facts of={todayCounts.map((name) => [wordOf(name), <span class="figure">{numberOf(today[name])}</span>])} />
      </section>
    </div>
  );
}

function OpenOrders() {
  const { petstore } = useSession();
  const query = useQuery(`${ORDERS}?open`, () =>
    petstore.listStoreOrders({ status: "placed", limit: ORDERS_SHOWN }).page(),
  );
  return (
    <section aria-label="Open orders">
      <h2>Open orders</h2>
      {query.data?.length === 0 ? (
        <p class="fine">No animal is reserved.</p>
      ) : (
        <Table<StoreOrder> label="Open orders" query={query} columns={columns} empty={null} />
      )}
      {query.data?.next && <Link to="/orders">All open orders</Link>}
    </section>
  );
}

function Latest() {
  const { petstore } = useSession();
  const query = useQuery("events?latest", () => petstore.listEvents({ sort: "-id", limit: EVENTS_SHOWN }).page());
  const { data } = query;
  return (
    <section aria-label="Latest changes">
      <h2>Latest changes {useWatchable(isLive) && <span class="status enabled fine">Live</span>}</h2>
      <Loading of={query} />
      {data?.length === 0 && <p class="fine">Nothing has happened yet.</p>}
      <ol class="events" aria-label="Events">
        {data?.slice(0, EVENTS_SHOWN).map((event) => (
          <EventLine key={event.id} of={event} />
        ))}
      </ol>
    </section>
  );
}

/** The rate limit windows of the shop. Reading them costs no quota. */
function Limits() {
  const { petstore } = useSession();
  const { data, error, reload } = useQuery<CurrentKey>("key", () => petstore.getCurrentKey());
  return (
    <section aria-label="Limits">
      <h2>Limits</h2>
      <ErrorNote error={error} retry={reload} />
      <div class="bars">
        <Bar name="This minute" window={data?.limits.minute} />
        <Bar name="Today (UTC)" window={data?.limits.day} />
      </div>
    </section>
  );
}

function Bar({ name, window }: { readonly name: string; readonly window: LimitWindow | undefined }) {
  if (!window) return <Skeleton width={50} />;
  const { used, limit, reset } = window;
  return (
    <div>
      <p>
        {name}: <span class="number">{numberOf(used)}</span> of <span class="number">{numberOf(limit)}</span> requests
      </p>
      <meter min={0} max={limit} value={used} high={limit * 0.9} optimum={0} aria-label={`${name}: requests sent`} />
      <p class="fine">
        Resets in <Countdown until={reset * 1000} isReal />
      </p>
    </div>
  );
}
