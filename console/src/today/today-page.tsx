import type { StoreOrder } from "petstore-client";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { startAdding } from "../animals/pet-dialog.tsx";
import { PetName, usePet } from "../animals/pet-name.tsx";
import { DeedLine } from "../events/deeds.tsx";
import { useLatest } from "../events/latest.ts";
import { startImport } from "../importing/import-pets.tsx";
import { importOf, importRecords } from "../importing/records.ts";
import { ExtendOrder } from "../orders/extend.tsx";
import { useReserved } from "../orders/orders-of.ts";
import { Link, type Query } from "../router.tsx";
import { countsOf, SalesChart, sumOf, useSales } from "../sales/sales.tsx";
import { SellButton, startReservation, startSale } from "../selling/sell.tsx";
import { isLive } from "../service/live.ts";
import { shopOf, useMay, useSession } from "../session/session.ts";
import { addDays, dayText, useToday, useZoneNote } from "../shop/days.ts";
import { useFigures } from "../shop/figures.ts";
import { OfferedSettings } from "../shop/settings.tsx";
import { AddButton } from "../ui/action-button.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { RowButton } from "../ui/row-button.tsx";
import { Countdown } from "../ui/time.tsx";
import { numberOf, toneOf, wordOf } from "../ui/words.ts";
import { useWatchable } from "../watchable.ts";

/** How many days the chart has: more than a week, with which it compares today. */
const DAYS_SHOWN = 14;
const WEEK = 7;
const ORDERS_SHOWN = 6;
const DEEDS_SHOWN = 10;

/** The current state of the shop. */
export function Today() {
  const may = useMay();
  const { data: figures } = useFigures();
  return (
    <Page
      title="Today"
      note={<DayNote />}
      actions={
        <>
          {may("createPet") && <AddButton text="Add animal" onClick={startAdding} />}
          <SellButton />
        </>
      }
    >
      <OfferedSettings />
      {figures?.animals.total === 0 && <FirstSteps />}
      {may("getShop") && <Figures />}
      <div class="halves">
        {may("getSales") && <LastDays />}
        {may("listStoreOrders") && <Reserved />}
      </div>
      {may("listEvents") && <Latest />}
    </Page>
  );
}

/** Which day it is in the shop. */
function DayNote() {
  const today = useToday();
  const zone = useZoneNote();
  return (
    <>
      {today && <span class="wide">{dayText(today, { weekday: "long", day: "numeric", month: "long" })}</span>}
      {zone && <span class="wide"> · </span>}
      {zone}
    </>
  );
}

interface FigureProps {
  readonly name: ComponentChildren;
  /** The state whose colour it has. */
  readonly state?: string;
  /** Undefined until it is known. */
  readonly value: number | undefined;
  /** Beside the value. */
  readonly sum?: ComponentChildren;
  /** Below it. */
  readonly children?: ComponentChildren;
  readonly to: string;
  readonly query?: Query;
}

/** A number of the day, which leads to what it counts. */
function Figure({ name, state, value, sum, children, to, query = {} }: FigureProps) {
  return (
    <Link to={to} query={query} class="card">
      <span class={`dot ${toneOf(state)}`}>{name}</span>
      <span>
        <span class="figure">{value === undefined ? "…" : numberOf(value)}</span>{" "}
        {sum && <span class="sum">· {sum}</span>}
      </span>
      <span class="fine">{children}</span>
    </Link>
  );
}

/** Also the same weekday a week ago. */
function useLastDays() {
  const today = useToday();
  return useSales({ first: today && addDays(today, 1 - DAYS_SHOWN), last: today });
}

function LastDays() {
  const query = useLastDays();
  const { data } = query;
  return (
    <section class="card" aria-label="Last days">
      <Loading of={query} />
      {data && (
        <SalesChart
          title={<h2>{`Sales, last ${DAYS_SHOWN} days`}</h2>}
          summary={[countsOf(data.total), sumOf(data.total)].filter(Boolean).join(" · ")}
          of={data}
        />
      )}
    </section>
  );
}

/** "2 more than a week ago". */
function Difference({ of: difference }: { readonly of: number }) {
  return (
    <>
      <strong>
        {difference === 0 ? "As many" : `${numberOf(Math.abs(difference))} ${difference > 0 ? "more" : "fewer"}`}
      </strong>{" "}
      <span>{difference === 0 ? "as a week ago" : "than a week ago"}</span>
    </>
  );
}

function Figures() {
  const query = useFigures();
  const { data: sales, error } = useLastDays();
  const days = sales?.days;
  const orders = useReserved();
  if (!query.data) return <Loading of={query} />;
  const { animals, today, openOrders } = query.data;
  const [next] = orders.data ?? [];
  const [now, before] = [days?.at(-1), days?.at(-1 - WEEK)];
  // The number comes with its sum, or alone if that cannot be read.
  const { sold, returned } = now ?? today;
  const sum = now && sumOf(now);
  return (
    <section class="figures" aria-label="The shop today">
      <Figure
        name="Sold today"
        state="sold"
        value={now || error ? sold : undefined}
        sum={sum && returned > 0 ? `${numberOf(returned)} returned · ${sum}` : sum}
        to="/sales"
        query={{ range: "today" }}
      >
        {before && <Difference of={sold - before.sold} />}
      </Figure>
      <Figure
        name={wordOf("available")}
        state="available"
        value={animals.available}
        to="/animals"
        query={{ status: "available" }}
      >
        {`${numberOf(today.added)} added today`}
      </Figure>
      <Figure name={wordOf("placed")} state="placed" value={openOrders} to="/orders">
        {next ? (
          <>
            next ends in <Countdown until={next.expiresAt} />
          </>
        ) : (
          "nothing waits"
        )}
      </Figure>
      <Figure name="Returned" value={returned} to="/orders" query={{ status: "returned" }}>
        today
      </Figure>
    </section>
  );
}

function Reserved() {
  const may = useMay();
  const query = useReserved();
  const { data } = query;
  return (
    <section class="card" aria-label="Reserved now">
      <header>
        <h2>Reserved now</h2>
        {data && data.length > ORDERS_SHOWN && <Link to="/orders">All {numberOf(data.length)}</Link>}
        {may("placeStoreOrder") && (
          <button type="button" class="small" onClick={() => startReservation()}>
            Reserve
          </button>
        )}
      </header>
      <Loading of={query} />
      {data?.length === 0 && <p class="fine">No animal is reserved.</p>}
      <ul class="lines">
        {data?.slice(0, ORDERS_SHOWN).map((order) => (
          <ReservedLine key={order.id} of={order} />
        ))}
      </ul>
    </section>
  );
}

function ReservedLine({ of: order }: { readonly of: StoreOrder }) {
  const may = useMay();
  const pet = usePet(order.petId);
  const [isExtending, setExtending] = useState(false);
  return (
    <li>
      <div class="what">
        <Link to={`/animals/${order.petId}`}>
          <PetName id={order.petId} />
        </Link>
        {order.reference && (
          <div class="fine">
            <bdi>{order.reference}</bdi>
          </div>
        )}
      </div>
      <span class="left">
        <Countdown until={order.expiresAt} />
      </span>
      {pet && (
        <span class="row-actions">
          {may("confirmStoreOrder") && (
            <RowButton isFirst text="Sell" of={pet.name} onClick={() => startSale(pet, order)} />
          )}
          {may("updateStoreOrder") && <RowButton text="Extend" of={pet.name} onClick={() => setExtending(true)} />}
        </span>
      )}
      {isExtending && <ExtendOrder of={order} onClose={() => setExtending(false)} />}
    </li>
  );
}

function Latest() {
  const { key } = useSession();
  const records = useWatchable(importRecords);
  const query = useLatest(DEEDS_SHOWN, ({ type, subject }) =>
    type === "pet.created" ? importOf(BigInt(subject.id), shopOf(key), records) : undefined,
  );
  const { data } = query;
  return (
    <section class="card" aria-label="Just happened">
      <header>
        <h2>Just happened</h2>
        {useWatchable(isLive) && <span class="dot fine good">Live</span>}
      </header>
      <Loading of={query} />
      {data?.length === 0 && <p class="fine">Nothing has happened yet.</p>}
      <ol class="lines" aria-label="Events">
        {data?.map((deed) => (
          <DeedLine key={deed.event.id} of={deed} />
        ))}
      </ol>
    </section>
  );
}

/** A page opens with a new shop: what to do first. */
function FirstSteps() {
  const may = useMay();
  return (
    <section class="card" aria-label="First steps">
      <h2>First steps</h2>
      <ol class="lines steps">
        {may("createPet") && (
          <li>
            <span class="what">Add the animals that the shop has</span>
            <button type="button" onClick={startAdding}>
              Add animals
            </button>
          </li>
        )}
        {may("importPets") && (
          <li>
            <span class="what">Or import a list of them, as a spreadsheet saves it</span>
            <button type="button" onClick={startImport}>
              Import a file
            </button>
          </li>
        )}
        {may("createKey") && (
          <li>
            <span class="what">Make a key for the till: who sells with it may not delete keys</span>
            <Link to="/keys">Keys</Link>
          </li>
        )}
      </ol>
    </section>
  );
}
