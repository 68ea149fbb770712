import type { ListStoreOrdersQuery, Sales, SalesFigures, StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { ORDERS } from "../orders/orders.ts";
import { filterBy, Link, type Query, usePlace } from "../router.tsx";
import { SellButton } from "../selling/sell.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { Export } from "../ui/export.tsx";
import { DateFilter, SelectFilter } from "../ui/filters.tsx";
import { Loading } from "../ui/loading.tsx";
import { amountText, moneyOf } from "../ui/money.ts";
import { Page } from "../ui/page.tsx";
import { NONE_HERE, Pager } from "../ui/pager.tsx";
import { Segments } from "../ui/segments.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { countOf, numberOf } from "../ui/words.ts";
import { type Days, dateOf, dayAfter, SalesChart, spanOf, sumOf, timeZone, useSales } from "./sales.tsx";

const PAGE_SIZE = 50;
const CUSTOM = "custom";
const ranges = [
  ["today", "Today"],
  ["", "This week"],
  ["month", "This month"],
  [CUSTOM, "Custom"],
] as const;

/** The days that the address names. The week begins on Monday. */
function daysIn({ range, since, until }: Query): Days {
  const [first, last] = [since, until].map((date) => new Date(`${date}T00:00`)) as [Date, Date];
  if (range === CUSTOM && +first && +last) return { first, last };
  const now = new Date();
  const before = { today: 0, month: now.getDate() - 1 }[range ?? ""] ?? (now.getDay() + 6) % 7;
  return { first: dayAfter(-before), last: dayAfter(0) };
}

/** What was sold, when, by whom, and of which category. */
export function SalesPage() {
  const { petstore } = useSession();
  const may = useMay();
  const { query } = usePlace();
  const [isExporting, setExporting] = useState(false);
  const days = daysIn(query);
  const sales = useSales(days);
  const [confirmedSince, confirmedUntil] = spanOf(days);
  const filters = {
    sort: "-confirmedAt",
    confirmedSince,
    confirmedUntil,
    seller: query["seller"],
    categoryId: query["category"],
  } as unknown as ListStoreOrdersQuery; // the service validates the address
  return (
    <Page
      title="Sales"
      note={<span class="wide">{timeZone()}</span>}
      actions={
        <>
          {may("listStoreOrders") && <ActionButton text="CSV" icon="export" onClick={() => setExporting(true)} />}
          <SellButton />
        </>
      }
    >
      <Range of={days} />
      <Loading of={sales} />
      {sales.data && <Sums of={sales.data} />}
      {(sales.data || !sales.error) && may("listStoreOrders") && <List filters={filters} sales={sales.data} />}
      {isExporting && (
        <Export<StoreOrder>
          what="sale"
          columns={csvColumns(sales.data)}
          read={(options) => petstore.listStoreOrders({ ...filters, limit: 100 }, options)}
          onClose={() => setExporting(false)}
        />
      )}
    </Page>
  );
}

/** The choice of the days. */
function Range({ of: { first, last } }: { readonly of: Days }) {
  const { range = "" } = usePlace().query;
  const [since, until] = [dateOf(first), dateOf(last)];
  return (
    <div class="filters" role="search" aria-label="Days">
      <Segments
        label="Days"
        choices={ranges}
        chosen={range}
        choose={(chosen) =>
          filterBy({ range: chosen, ...(chosen === CUSTOM ? { since, until } : { since: "", until: "" }) })
        }
      />
      {range === CUSTOM && (
        <>
          <DateFilter name="since" label="First day" value={since} max={until} />
          <DateFilter name="until" label="Last day" value={until} min={since} />
        </>
      )}
    </div>
  );
}

/** The sums of all, by day, by seller and by category. */
function Sums({ of: { total, days, sellers, categories } }: { readonly of: Sales }) {
  const title = (
    <h2>
      <span>{numberOf(total.sold)} sold</span> <span class="sum">{sumOf(total)}</span>
    </h2>
  );
  const paidBack = sumOf(total, "returned");
  const kept = total.amounts.map(({ sold, returned: back, currency }) => moneyOf({ amount: sold - back, currency }));
  const returned = [
    `${numberOf(total.returned)} returned`,
    ...(paidBack
      ? [`−${paidBack.replaceAll("+ ", "− ")}`, `${kept.join(" + ").replaceAll("+ −", "− ")} after returns`]
      : []),
  ].join(" · ");
  return (
    <div class="halves">
      <section class="card" aria-label="Sums">
        <SalesChart title={title} summary={returned} days={days} />
      </section>
      {sellers.length > 0 && (
        <section class="card" aria-label="Shares">
          <h2>By seller</h2>
          <Shares tone="accented" of={sellers.map((one) => [one.name ?? othersOf(one), one])} />
          <h2>By category</h2>
          <Shares
            tone="done"
            of={categories.map((one) => [one.name ?? (one.other ? othersOf(one) : `No. ${one.categoryId}`), one])}
          />
        </section>
      )}
    </div>
  );
}

/** The name of an entry for all that a response does not name. */
const othersOf = ({ other = 0 }) => `${numberOf(other)} others`;

interface SharesProps {
  readonly tone: string;
  /** Most first. */
  readonly of: readonly (readonly [name: string, SalesFigures])[];
}

function Shares({ tone, of: shares }: SharesProps) {
  const most = Math.max(1, shares[0]?.[1].sold ?? 0);
  return (
    <ul class="shares">
      {shares.map(([name, figures], index) => (
        <li key={index}>
          <bdi>{name}</bdi>
          <span class="number">{[numberOf(figures.sold), sumOf(figures)].filter(Boolean).join(" · ")}</span>
          <span class={`share ${tone}`}>
            <span style={{ width: `${(figures.sold / most) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const categoryOf = (sales: Sales | undefined, { categoryId }: StoreOrder) =>
  sales?.categories.find((one) => one.categoryId === categoryId)?.name ?? `No. ${categoryId}`;

const localTime = (at: string | undefined) => at && new Date(at).toLocaleString("sv");

/** Times are those of the page, and written as spreadsheets read them. */
const csvColumns = (sales: Sales | undefined): Record<string, (order: StoreOrder) => string | bigint | undefined> => ({
  [`sold (${timeZone()})`]: ({ confirmedAt }) => localTime(confirmedAt),
  animal: ({ petName }) => petName,
  animalId: ({ petId }) => petId,
  category: (order) => categoryOf(sales, order),
  seller: ({ confirmedBy }) => confirmedBy?.name,
  reference: ({ reference }) => reference,
  price: ({ price }) => price && amountText(price).replaceAll(",", ""),
  currency: ({ price }) => price?.currency,
  returned: ({ returnedAt }) => localTime(returnedAt),
});

interface ListProps {
  readonly filters: ListStoreOrdersQuery;
  readonly sales: Sales | undefined;
}

/** The sales that are added up, the newest first. */
function List({ filters, sales }: ListProps) {
  const { petstore } = useSession();
  const { seller, category, cursor } = usePlace().query;
  const listQuery = { ...filters, limit: PAGE_SIZE, ...(cursor && { cursor }) };
  const query = useQuery(`${ORDERS}?${JSON.stringify(listQuery)}`, () => petstore.listStoreOrders(listQuery).page());
  const { next } = query.data ?? {};
  const { total, sellers = [], categories = [] } = sales ?? {};
  const counted = seller
    ? !category && sellers.find(({ name }) => name === seller)
    : category
      ? categories.find(({ categoryId }) => String(categoryId) === category)
      : total;
  return (
    <section>
      <div class="filters" role="search" aria-label="Filters">
        <SelectFilter
          name="seller"
          label="Seller"
          all="All sellers"
          areNames
          choices={sellers.flatMap(({ name }) => (name === undefined ? [] : [[name, name] as const]))}
        />
        <SelectFilter
          name="category"
          label="Category"
          all="All categories"
          areNames
          choices={categories.flatMap(({ categoryId: id, name = `No. ${id}` }) =>
            id === undefined ? [] : [[String(id), name] as const],
          )}
        />
      </div>
      <Table<StoreOrder>
        label="Sales"
        query={query}
        columns={columnsFor(sales)}
        empty={<p>{next ? NONE_HERE : "Nothing was sold in this time."}</p>}
        foot={<Pager next={next} total={counted && counted.sold > 0 ? countOf(counted.sold, "sale") : undefined} />}
      />
    </section>
  );
}

const columnsFor = (sales: Sales | undefined): readonly Column<StoreOrder>[] => [
  {
    head: "Sold",
    narrow: "below",
    cell: ({ confirmedAt }) => (
      <time dateTime={confirmedAt}>
        {new Date(confirmedAt ?? "").toLocaleString("en-GB", {
          day: "numeric",
          month: "short",
          hour: "2-digit",
          minute: "2-digit",
        })}
      </time>
    ),
  },
  {
    head: "Animal",
    narrow: "name",
    cell: ({ petId, petName, status }) => (
      <>
        <Link to={`/animals/${petId}`} class="title">
          <bdi>{petName}</bdi>
        </Link>
        {status === "returned" && <span class="tag calm">Returned</span>}
      </>
    ),
  },
  { head: "Category", cell: (order) => <bdi>{sales && categoryOf(sales, order)}</bdi> },
  { head: "Seller", narrow: "under", cell: ({ confirmedBy }) => <bdi>{confirmedBy?.name}</bdi> },
  { head: "Reference", cell: ({ reference }) => <bdi>{reference}</bdi> },
  { head: "Price", isNumber: true, narrow: "end", cell: ({ price }) => price && moneyOf(price) },
];
