import type { ListStoreOrdersQuery, StoreOrder } from "petstore-client";
import { choicesOf } from "../contract.ts";
import { listStoreOrdersQuery } from "../generated/contract.ts";
import { filterBy, usePlace } from "../router.tsx";
import { dayAfter } from "../sales/sales.tsx";
import { SellButton } from "../selling/sell.tsx";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { SelectFilter } from "../ui/filters.tsx";
import { Page } from "../ui/page.tsx";
import { NONE_HERE, Pager } from "../ui/pager.tsx";
import { Search } from "../ui/search.tsx";
import { Segments } from "../ui/segments.tsx";
import { Table } from "../ui/table.tsx";
import { wordOf } from "../ui/words.ts";
import { orderColumns } from "./order-rows.tsx";
import { ORDERS } from "./orders.ts";

const PAGE_SIZE = 50;
const OPEN = "placed";
const ALL = "all";
const NONE_OPEN = "No animal is reserved.";
const NO_REFERENCE = "No such order has this reference. Enter the whole reference.";
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
  const { reference, days, sort = "-id", cursor } = query;
  const view = query["status"] ?? (reference ? ALL : OPEN); // a search by reference includes all states
  const since = days && dayAfter(1 - Number(days)).toISOString();
  const listQuery = { limit: PAGE_SIZE, status: view === ALL ? undefined : view, reference, since, sort, cursor };
  const orders = useQuery(`${ORDERS}?${JSON.stringify(listQuery)}`, () =>
    petstore.listStoreOrders(listQuery as unknown as ListStoreOrdersQuery).page(),
  );
  const { next } = orders.data ?? {};
  const none = days
    ? "No such order was placed in this time."
    : reference
      ? NO_REFERENCE
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
          choose={(name) => filterBy({ status: name === (reference ? ALL : OPEN) ? "" : name })}
        />
        <Search
          label="Search by reference"
          hint="Reference"
          value={reference ?? ""}
          search={(text) => filterBy({ reference: text })}
        />
        <SelectFilter name="days" label="Placed" all="At any time" choices={times} />
        <SelectFilter name="sort" label="Sorted by" all="Newest first" choices={sorts} />
      </div>
      <Table<StoreOrder>
        label="Orders"
        query={orders}
        columns={columns}
        empty={<p>{next ? NONE_HERE : none}</p>}
        foot={<Pager next={next} />}
      />
    </Page>
  );
}
