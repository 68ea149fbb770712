import type { ListStoreOrdersQuery, StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { choicesOf } from "../contract.ts";
import { listStoreOrdersQuery } from "../generated/contract.ts";
import { filterBy, usePlace } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { orderColumns } from "../shop/order-rows.tsx";
import { ORDERS } from "../shop/orders.ts";
import { SellPet } from "../shop/sell-pet.tsx";
import { MainButton } from "../ui/main-button.tsx";
import { Page } from "../ui/page.tsx";
import { NONE_HERE, Pager } from "../ui/pager.tsx";
import { Search } from "../ui/search.tsx";
import { Segments } from "../ui/segments.tsx";
import { Table } from "../ui/table.tsx";
import { wordOf } from "../ui/words.ts";

const PAGE_SIZE = 50;
const OPEN = "placed";
const ALL = "all";
const NONE_OPEN = "No animal is reserved.";
const NO_REFERENCE = "No such order has this reference. Enter the whole reference.";
const columns = orderColumns(true);
const views = [OPEN, ALL, ...choicesOf(listStoreOrdersQuery, "status").filter((status) => status !== OPEN)];

/** The orders of the shop. By default it shows open ones. */
export function Orders() {
  const { petstore } = useSession();
  const may = useMay();
  const { query } = usePlace();
  const [isSelling, setSelling] = useState(false);
  const { reference, cursor } = query;
  const view = query["status"] ?? (reference ? ALL : OPEN); // a search by reference includes all states
  const listQuery = { limit: PAGE_SIZE, status: view === ALL ? undefined : view, reference, sort: "-id", cursor };
  const orders = useQuery(`${ORDERS}?${JSON.stringify(listQuery)}`, () =>
    petstore.listStoreOrders(listQuery as unknown as ListStoreOrdersQuery).page(),
  );
  const { next } = orders.data ?? {};
  const none = reference ? NO_REFERENCE : view === OPEN ? NONE_OPEN : "No order is in this state.";
  return (
    <Page
      title="Orders"
      actions={may("placeStoreOrder") && <MainButton text="Sell animal" onClick={() => setSelling(true)} />}
    >
      {may("confirmStoreOrder") && (
        <p class="intro fine">
          Confirm sale sells a reserved animal; Cancel makes it available again. Return undoes a sale.
        </p>
      )}
      <div class="filters" role="search" aria-label="Filters">
        <Segments
          label="Status"
          choices={views.map((name) => [name, wordOf(name)])}
          chosen={view}
          choose={(name) => filterBy({ status: name === (reference ? ALL : OPEN) ? "" : name })}
        />
        <Search label="Search by reference" value={reference ?? ""} search={(text) => filterBy({ reference: text })} />
      </div>
      <Table<StoreOrder> label="Orders" query={orders} columns={columns} empty={<p>{next ? NONE_HERE : none}</p>} />
      <Pager next={next} />
      {isSelling && <SellPet onClose={() => setSelling(false)} />}
    </Page>
  );
}
