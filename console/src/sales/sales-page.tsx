import type { ListStoreOrdersQuery, Sales, SalesFigures, StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { ORDERS } from "../orders/orders.ts";
import { filterBy, Link, type Query, usePlace } from "../router.tsx";
import { SellButton } from "../selling/sell.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { addDays, localText, useToday, useZone, useZoneNote } from "../shop/days.ts";
import { useFigures } from "../shop/figures.ts";
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
import {
  countsOf,
  currencyOf,
  type Days,
  MAX_DAYS,
  paidBackOf,
  SalesChart,
  shownValue,
  spanOf,
  sumOf,
  useSales,
} from "./sales.tsx";

const PAGE_SIZE = 50;
const CUSTOM = "custom";
const ranges = [
  ["today", "Today"],
  ["", "This week"],
  ["month", "This month"],
  [CUSTOM, "Custom"],
] as const;

/** The days that the address names. The week begins on Monday. */
function daysIn({ range, since, until }: Query, today: string): Days {
  if (range === CUSTOM && isDate(since) && isDate(until) && since <= until)
    return { first: latest(since, addDays(until, 1 - MAX_DAYS)), last: until };
  const day = new Date(today);
  const before = { today: 0, month: day.getUTCDate() - 1 }[range ?? ""] ?? (day.getUTCDay() + 6) % 7;
  return { first: addDays(today, -before), last: today };
}

const isDate = (text = ""): text is string => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
const latest = (one: string, other: string) => (one > other ? one : other);

/** What was sold, when, by whom, and of which category. */
export function SalesPage() {
  const zone = useZone();
  const figures = useFigures();
  if (zone) return <SalesIn zone={zone} />;
  return (
    <Page title="Sales" actions={<SellButton />}>
      <Loading of={figures} />
    </Page>
  );
}

function SalesIn({ zone }: { readonly zone: string }) {
  const { petstore } = useSession();
  const may = useMay();
  const { query } = usePlace();
  const [isExporting, setExporting] = useState(false);
  const days = daysIn(query, useToday());
  const sales = useSales(days);
  const [confirmedSince, confirmedUntil] = spanOf(days, zone);
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
      note={useZoneNote()}
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
      {(sales.data || !sales.error) && may("listStoreOrders") && (
        <List filters={filters} sales={sales.data} zone={zone} />
      )}
      {isExporting && (
        <Export<StoreOrder>
          what="sale"
          file={days.first === days.last ? `sales-${days.first}` : `sales-${days.first}-to-${days.last}`}
          columns={csvColumns(sales.data, zone)}
          read={(options) => petstore.listStoreOrders({ ...filters, limit: 100 }, options)}
          onClose={() => setExporting(false)}
        />
      )}
    </Page>
  );
}

/** The choice of the days. Of two that are too far apart, the other one follows. */
function Range({ of: { first, last } }: { readonly of: Days }) {
  const { range = "" } = usePlace().query;
  return (
    <div class="filters" role="search" aria-label="Days">
      <Segments
        label="Days"
        choices={ranges}
        chosen={range}
        choose={(chosen) =>
          filterBy({ range: chosen, ...(chosen === CUSTOM ? { since: first, until: last } : { since: "", until: "" }) })
        }
      />
      {range === CUSTOM && (
        <>
          <DateFilter
            label="First day"
            value={first}
            take={(since) => {
              const most = addDays(since, MAX_DAYS - 1);
              filterBy({ since, until: last < since ? since : last > most ? most : last });
            }}
          />
          <DateFilter
            label="Last day"
            value={last}
            take={(until) => {
              const least = addDays(until, 1 - MAX_DAYS);
              filterBy({ until, since: first > until ? until : latest(first, least) });
            }}
          />
        </>
      )}
    </div>
  );
}

/** The sums of all, by day, by seller and by category. */
function Sums({ of: sales }: { readonly of: Sales }) {
  const { total, sellers, categories } = sales;
  const title = (
    <h2>
      <span>{countsOf(total)}</span> <span class="sum">{sumOf(total)}</span>
    </h2>
  );
  const paidBack = paidBackOf(total);
  return (
    <div class="halves">
      <section class="card" aria-label="Sums">
        <SalesChart
          title={title}
          summary={paidBack ? `after ${paidBack.replaceAll("+", "and")} paid back` : ""}
          of={sales}
        />
      </section>
      {sellers.length > 0 && (
        <section class="card" aria-label="Shares">
          <h2>By seller</h2>
          <Shares
            tone="accented"
            currency={currencyOf(total)}
            of={sellers.map((one) => [one.name ?? othersOf(one), one])}
          />
          <h2>By category</h2>
          <Shares
            tone="done"
            currency={currencyOf(total)}
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
  /** The currency of the sums that the bars show; undefined if they show how many. */
  readonly currency: string | undefined;
  readonly of: readonly (readonly [name: string, SalesFigures])[];
}

/** The shares of sellers or categories in what was sold, the largest first. */
function Shares({ tone, currency, of }: SharesProps) {
  const shares = of
    .map(([name, figures]) => ({ name, figures, value: shownValue(figures, currency) }))
    .toSorted((one, other) => other.value - one.value);
  const most = Math.max(1, shares[0]?.value ?? 0);
  return (
    <ul class="shares">
      {shares.map(({ name, figures, value }, index) => (
        <li key={index}>
          <bdi>{name}</bdi>
          <span class="number">{[countsOf(figures), sumOf(figures)].filter(Boolean).join(" · ")}</span>
          <span class={`share ${tone}`}>
            <span style={{ width: `${(value / most) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const categoryOf = (sales: Sales | undefined, { categoryId }: StoreOrder) =>
  sales?.categories.find((one) => one.categoryId === categoryId)?.name ?? `No. ${categoryId}`;

/** Times and amounts as spreadsheets of the browser's language read them, in the shop's time zone. */
const csvColumns = (
  sales: Sales | undefined,
  zone: string,
): Record<string, (order: StoreOrder) => string | bigint | undefined> => ({
  [`sold (${zone})`]: ({ confirmedAt }) => confirmedAt && localText(confirmedAt, zone),
  order: ({ id }) => id,
  animal: ({ petName }) => petName,
  "animal number": ({ petId }) => petId,
  category: (order) => categoryOf(sales, order),
  seller: (order) => order.seller,
  reference: ({ reference }) => reference,
  price: ({ price }) => price && amountText(price),
  currency: ({ price }) => price?.currency,
  returned: ({ returnedAt }) => returnedAt && localText(returnedAt, zone),
});

interface ListProps {
  readonly filters: ListStoreOrdersQuery;
  readonly sales: Sales | undefined;
  readonly zone: string;
}

/** The sales that are added up, the newest first. */
function List({ filters, sales, zone }: ListProps) {
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
        columns={columnsFor(sales, zone)}
        empty={<p>{next ? NONE_HERE : "Nothing was sold in this time."}</p>}
        foot={<Pager next={next} total={counted && counted.sold > 0 ? countOf(counted.sold, "sale") : undefined} />}
      />
    </section>
  );
}

const columnsFor = (sales: Sales | undefined, timeZone: string): readonly Column<StoreOrder>[] => [
  {
    head: "Sold",
    narrow: "below",
    cell: ({ confirmedAt }) => (
      <time dateTime={confirmedAt}>
        {new Date(confirmedAt ?? "").toLocaleString(undefined, {
          timeZone,
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
  { head: "Seller", narrow: "under", cell: ({ seller }) => <bdi>{seller}</bdi> },
  { head: "Reference", cell: ({ reference }) => <bdi>{reference}</bdi> },
  { head: "Price", isNumber: true, narrow: "end", cell: ({ price }) => price && moneyOf(price) },
];
