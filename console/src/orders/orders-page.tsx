import type { ListStoreOrdersQuery, StoreOrder } from "petstore-client";
import { choicesOf } from "../contract.ts";
import { listStoreOrdersQuery } from "../generated/contract.ts";
import { filterBy, usePlace } from "../router.tsx";
import { SellButton } from "../selling/sell.tsx";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { addDays, startOf, useToday, useZone } from "../shop/days.ts";
import { SelectFilter } from "../ui/filters.tsx";
import { Page } from "../ui/page.tsx";
import { NONE_HERE, Pager } from "../ui/pager.tsx";
import { Search } from "../ui/search.tsx";
import { Segments } from "../ui/segments.tsx";
import { Table } from "../ui/table.tsx";
import { wordOf } from "../ui/words.ts";
import { orderColumns } from "./order-rows.tsx";
import { ORDERS } from "./orders.ts";
import { byEnd } from "./orders-of.ts";

/** Orders of a page; reservations, which are sorted by their end here, as many as the service lists. */
const [PAGE_SIZE, MOST] = [50, 100];
const OPEN = "placed";
const ALL = "all";
const NONE_OPEN = "No animal is reserved.";
const NOT_FOUND = "No such order has this number, or a reference that begins so.";
/** Days, today included. */
const times = [
  ["1", "Today"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
] as const;
const sorts = [
  ["id", "Oldest first"],
  ["-confirmedAt", "Last sold first"],
] as const;
const columns = orderColumns(true);
const views = [OPEN, ALL, ...choicesOf(listStoreOrdersQuery, "status").filter((status) => status !== OPEN)];

/** The orders of the shop. By default it shows open ones. */
export function Orders() {
  const { petstore } = useSession();
  const { query } = usePlace();
  const { search, days, sort = "-id", cursor } = query;
  const view = query["status"] ?? (search ? ALL : OPEN); // a search includes all states
  const isByEnd = view === OPEN && !search;
  const zone = useZone();
  const today = useToday();
  const since = days && zone && startOf(addDays(today, 1 - Number(days)), zone);
  const listQuery = {
    limit: isByEnd ? MOST : PAGE_SIZE,
    status: view === ALL ? undefined : view,
    ...(search ? { search } : { sort }), // a search has an order of its own
    since,
    cursor,
  };
  const isKnown = !days || zone !== undefined;
  const orders = useQuery(isKnown ? `${ORDERS}?${JSON.stringify(listQuery)}` : undefined, () =>
    petstore.listStoreOrders(listQuery as unknown as ListStoreOrdersQuery).page(),
  );
  const { next } = orders.data ?? {};
  const none = days
    ? "No such order was placed in this time."
    : search
      ? NOT_FOUND
      : view === OPEN
        ? NONE_OPEN
        : "No order is in this state.";
  return (
    <Page title="Orders" actions={<SellButton />}>
      <div class="filters" role="search" aria-label="Filters">
        <Segments
          label="Status"
          choices={views.map((name) => [name, wordOf(name)])}
          chosen={view}
          choose={(name) => filterBy({ status: name === (search ? ALL : OPEN) ? "" : name })}
        />
        <Search
          label="Search by reference or number"
          hint="Reference or number"
          value={search ?? ""}
          search={(text) => filterBy({ search: text })}
        />
        <SelectFilter name="days" label="Placed" all="At any time" choices={times} />
        {!search && !isByEnd && <SelectFilter name="sort" label="Sorted by" all="Newest first" choices={sorts} />}
      </div>
      <Table<StoreOrder>
        label="Orders"
        query={orders}
        items={orders.data && isByEnd ? byEnd(orders.data) : undefined}
        columns={columns}
        empty={<p>{next ? NONE_HERE : none}</p>}
        foot={<Pager next={next} />}
      />
    </Page>
  );
}
