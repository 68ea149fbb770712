import type { ListPetsQuery, Page as PageOf, Pet, PetStatus, Petstore, ShopSummary, StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { choicesOf } from "../contract.ts";
import { listPetsQuery } from "../generated/contract.ts";
import { startImport } from "../importing/import-pets.tsx";
import { useOrdersOf } from "../orders/orders-of.ts";
import { filterBy, Link, type Query, usePlace } from "../router.tsx";
import { canSell } from "../selling/sale.ts";
import { sellSeveral } from "../selling/sell.tsx";
import { type QueryInputs, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { countIn, useFigures } from "../shop/figures.ts";
import { ActionButton, AddButton } from "../ui/action-button.tsx";
import { SelectFilter } from "../ui/filters.tsx";
import { moneyOf } from "../ui/money.ts";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { Search } from "../ui/search.tsx";
import { Segments } from "../ui/segments.tsx";
import { Select } from "../ui/select.tsx";
import { Table } from "../ui/table.tsx";
import { countOf, numberOf, wordOf } from "../ui/words.ts";
import { useWatchable } from "../watchable.ts";
import { ExportPets } from "./export-pets.tsx";
import { askToDelete, isHeld, PetActions, PetDialog, type PetTask } from "./pet-actions.tsx";
import { startAdding } from "./pet-dialog.tsx";
import { PetState } from "./pet-state.tsx";
import { FILTERED, PETS, pendingDeletions } from "./pets.ts";

const PAGE_SIZE = 50;
const sorts = [
  ["id", "Oldest first"],
  ["name", "Name from A"],
  ["-name", "Name from Z"],
] as const;
const statuses = choicesOf(listPetsQuery, "status") as readonly PetStatus[];
/** The word of a status in the filter: what is pending is reserved, unless somebody has set it by hand. */
const filterWord = (status: PetStatus, figures: ShopSummary | undefined) =>
  wordOf(status === "pending" && figures?.openOrders === figures?.animals.pending ? "placed" : status);

/** How many animals the service looks through for a page of those whose name contains a text. */
const LOOKED_THROUGH = 10_000;

/** A search has an order of its own. */
function filtersIn({ status, category, name, search, sort = "-id" }: Query): ListPetsQuery {
  return {
    status,
    categoryId: category,
    ...(search ? { search } : { name, sort }),
  } as unknown as ListPetsQuery; // the service validates the address
}

const isFiltered = ({ status, category, name, search }: Query) => status || category || name || search;

export function petsQuery(petstore: Petstore, query: Query): QueryInputs<PageOf<Pet>> {
  const listQuery = { ...filtersIn(query), limit: PAGE_SIZE, cursor: query["cursor"] };
  return [
    `${isFiltered(query) || /name/.test(query["sort"] ?? "") ? FILTERED : `${PETS}?`}${JSON.stringify(listQuery)}`,
    () => petstore.listPets(listQuery).page(),
  ];
}

/** The animals of the shop. Filters, order and page are in the address. */
export function Animals() {
  const session = useSession();
  const may = useMay();
  const { query, state } = usePlace();
  const trail = (state["trail"] ?? []) as readonly string[];
  const pages = useQuery(...petsQuery(session.petstore, query));
  const { data } = pages;
  const { data: categories } = useCategories();
  const hidden = useWatchable(pendingDeletions);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [isExporting, setExporting] = useState(false);
  const [task, begin] = useState<PetTask>();

  const pets = data?.filter(({ id }) => !hidden.has(id));
  const orders = useOrdersOf(pets);
  const { data: figures } = useFigures();
  const chosen = pets?.filter(({ id }) => ticked.has(String(id))) ?? [];
  return (
    <Page
      title="Animals"
      actions={
        <>
          {may("createPet") && <ActionButton text="Import" icon="import" onClick={startImport} />}
          <ActionButton text="Export" icon="export" onClick={() => setExporting(true)} />
          {may("createPet") && <AddButton isMain text="Add animal" onClick={startAdding} />}
        </>
      }
    >
      <Filters />
      {query["name"] && data?.next && data.length < PAGE_SIZE && (
        <p class="intro fine" role="status">
          {`Looked through ${numberOf(LOOKED_THROUGH * (1 + trail.length))} of ${figures ? numberOf(figures.animals.total) : "the"} animals. Next looks further.`}
        </p>
      )}
      <Table<Pet>
        label="Animals"
        items={pets}
        query={pages}
        ticks={may("updatePet") ? { ticked, set: setTicked, nameOf: ({ name }) => name } : undefined}
        columns={[
          {
            head: "Name",
            fillsWidth: true,
            narrow: "name",
            cell: (pet) => (
              <>
                <Link to={`/animals/${pet.id}`} class="title">
                  <bdi>{pet.name}</bdi>
                </Link>
                <span class="fine">{String(pet.id)}</span>
              </>
            ),
          },
          {
            head: "Category",
            narrow: "under",
            cell: (pet) => <CategoryName id={pet.categoryId} of={categories} />,
          },
          { head: "Reference", cell: ({ reference }) => reference && <bdi>{reference}</bdi> },
          { head: "Price", isNumber: true, narrow: "below", cell: ({ price }) => price && moneyOf(price) },
          { head: "Status", narrow: "end", cell: (pet) => <PetState of={pet} order={orders.get(pet.id)} /> },
          { head: "", cell: (pet) => <PetActions of={pet} order={orders.get(pet.id)} begin={begin} /> },
        ]}
        foot={
          <Pager
            next={data?.next}
            total={!isFiltered(query) && figures ? countOf(figures.animals.total, "animal") : undefined}
          />
        }
        empty={
          data?.length ? (
            <p>All animals of this page are being deleted.</p>
          ) : isFiltered(query) || query["cursor"] ? (
            <>
              <p>{data?.next ? "None of those looked through so far." : "No animal matches these filters."}</p>
              <button type="button" onClick={() => filterBy({ status: "", category: "", name: "", search: "" })}>
                Show all animals
              </button>
            </>
          ) : (
            <>
              <p>The shop has no animals yet.</p>
              {may("createPet") && (
                <button type="button" class="main" onClick={startAdding}>
                  Add the first animal
                </button>
              )}
            </>
          )
        }
      />
      {chosen.length > 0 && (
        <SelectionActions of={chosen} orders={orders} begin={begin} clear={() => setTicked(new Set())} />
      )}
      {isExporting && <ExportPets filters={filtersIn(query)} onClose={() => setExporting(false)} />}
      <PetDialog of={task} onClose={() => begin(undefined)} />
    </Page>
  );
}

/** The filters and the order. */
function Filters() {
  const { query } = usePlace();
  const text = query["search"] ?? query["name"] ?? "";
  const { data: categories } = useCategories();
  const { data: figures } = useFigures();
  return (
    <div class="filters" role="search" aria-label="Filters">
      <Segments
        label="Status"
        choices={[
          ["", "All", figures && numberOf(figures.animals.total)],
          ...statuses.map(
            (status) => [status, filterWord(status, figures), figures && numberOf(figures.animals[status])] as const,
          ),
        ]}
        chosen={query["status"] ?? ""}
        choose={(status) => filterBy({ status })}
      />
      <Search
        label="Search by name, number or reference"
        hint={query["in"] ? "Part of a name" : "Name, number or reference"}
        value={text}
        search={(typed) => filterBy(query["in"] ? { name: typed } : { search: typed })}
      />
      {text !== "" && (
        <Select
          aria-label="How names are searched"
          value={query["in"] ?? ""}
          choose={(how) => filterBy({ in: how, ...(how ? { name: text, search: "" } : { search: text, name: "" }) })}
          choices={[
            ["", "Begins with it"],
            ["name", "Contains it"],
          ]}
        />
      )}
      <SelectFilter
        name="category"
        label="Category"
        all="All categories"
        areNames
        choices={[...(categories?.values() ?? [])].map(({ id, name }) => {
          const count = countIn(figures, id);
          return [String(id), count === undefined ? name : `${name} (${numberOf(count)})`] as const;
        })}
      />
      {!query["search"] && <SelectFilter name="sort" label="Order" all="Newest first" choices={sorts} />}
    </div>
  );
}

interface SelectionActionsProps {
  readonly of: readonly Pet[];
  readonly orders: ReadonlyMap<bigint, StoreOrder>;
  readonly begin: (task: PetTask) => void;
  readonly clear: () => void;
}

/** The actions for the selected animals. */
function SelectionActions({ of: pets, orders, begin, clear }: SelectionActionsProps) {
  const session = useSession();
  const may = useMay();
  const sellable = pets.map((pet) => ({ pet, order: orders.get(pet.id) })).filter(canSell);
  const free = pets.filter((pet) => !isHeld(pet, orders.get(pet.id)));
  return (
    <div class="selection" role="region" aria-label="Selected animals">
      <span>{countOf(pets.length, "animal")} selected</span>
      {sellable.length > 0 && may("placeStoreOrder") && (
        <button
          type="button"
          onClick={() => {
            sellSeveral(sellable);
            clear();
          }}
        >
          {sellable.length < pets.length ? `Sell ${numberOf(sellable.length)} of them…` : "Sell…"}
        </button>
      )}
      {free.length > 0 && (
        <button type="button" onClick={() => begin({ kind: "correct", pets: free })}>
          Correct status…
        </button>
      )}
      {free.length > 0 && may("deletePet") && (
        <button type="button" class="bad" onClick={() => askToDelete(session, free, clear)}>
          Delete…
        </button>
      )}
      <button type="button" class="quiet" onClick={clear}>
        Clear
      </button>
    </div>
  );
}
