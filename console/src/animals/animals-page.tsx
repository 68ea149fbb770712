import type { ListPetsQuery, Page as PageOf, Pet, PetStatus, Petstore, StoreOrder } from "petstore-client";
import { useState } from "preact/hooks";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { choicesOf } from "../contract.ts";
import { listPetsQuery } from "../generated/contract.ts";
import { ImportPets } from "../importing/import-pets.tsx";
import { sellPets } from "../orders/orders.ts";
import { useOrdersOf } from "../orders/orders-of.ts";
import { filterBy, Link, type Query, usePlace } from "../router.tsx";
import { type QueryInputs, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { countIn, useFigures } from "../shop/figures.ts";
import { ActionButton, AddButton } from "../ui/action-button.tsx";
import { SelectFilter } from "../ui/filters.tsx";
import { Page } from "../ui/page.tsx";
import { NONE_HERE, Pager } from "../ui/pager.tsx";
import { Search } from "../ui/search.tsx";
import { Segments } from "../ui/segments.tsx";
import { Table } from "../ui/table.tsx";
import { countOf, numberOf, wordOf } from "../ui/words.ts";
import { useWatchable } from "../watchable.ts";
import { ExportPets } from "./export-pets.tsx";
import { isHeld, PetActions, PetDialog, type PetTask } from "./pet-actions.tsx";
import { startAdding } from "./pet-dialog.tsx";
import { PetState } from "./pet-state.tsx";
import { deletePets, FILTERED, PETS, pendingDeletions } from "./pets.ts";

const PAGE_SIZE = 50;
const statuses = choicesOf(listPetsQuery, "status") as readonly PetStatus[];
/** The word of a status in the filter: what is pending is nearly always reserved. */
const filterWord = (status: PetStatus) => wordOf(status === "pending" ? "placed" : status);

function filtersIn({ status, category, name, sort = "-id" }: Query): ListPetsQuery {
  return { status, categoryId: category, name, sort } as unknown as ListPetsQuery; // the service validates the address
}

const isFiltered = ({ status, category, name }: Query) => status || category || name;

export function petsQuery(petstore: Petstore, query: Query): QueryInputs<PageOf<Pet>> {
  const listQuery = { ...filtersIn(query), limit: PAGE_SIZE, cursor: query["cursor"] };
  return [
    `${isFiltered(query) ? FILTERED : `${PETS}?`}${JSON.stringify(listQuery)}`,
    async () => {
      const { name, ...others } = listQuery;
      const byId =
        /^\d{1,18}$/.test(name ?? "") && (await petstore.listPets({ ...others, ids: [BigInt(`${name}`)] }).page());
      return byId && byId.length > 0 ? byId : petstore.listPets(listQuery).page();
    },
  ];
}

/** The animals of the shop. Filters, order and page are in the address. */
export function Animals() {
  const session = useSession();
  const may = useMay();
  const { query } = usePlace();
  const pages = useQuery(...petsQuery(session.petstore, query));
  const { data } = pages;
  const { data: categories } = useCategories();
  const hidden = useWatchable(pendingDeletions);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<"import" | "export">();
  const [task, begin] = useState<PetTask>();

  const pets = data?.filter(({ id }) => !hidden.has(id));
  const orders = useOrdersOf(pets);
  const { data: figures } = useFigures();
  const chosen = pets?.filter(({ id }) => ticked.has(String(id))) ?? [];
  const close = () => setDialog(undefined);
  return (
    <Page
      title="Animals"
      actions={
        <>
          {may("createPet") && <ActionButton text="Import" icon="import" onClick={() => setDialog("import")} />}
          <ActionButton text="Export" icon="export" onClick={() => setDialog("export")} />
          {may("createPet") && <AddButton isMain text="Add animal" onClick={startAdding} />}
        </>
      }
    >
      <Filters />
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
              <p>{data?.next ? NONE_HERE : "No animal matches these filters."}</p>
              <button type="button" onClick={() => filterBy({ status: "", category: "", name: "" })}>
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
      {dialog === "import" && <ImportPets onClose={close} />}
      {dialog === "export" && <ExportPets filters={filtersIn(query)} onClose={close} />}
      <PetDialog of={task} onClose={() => begin(undefined)} />
    </Page>
  );
}

/** The filters and the order. */
function Filters() {
  const { query } = usePlace();
  const { data: categories } = useCategories();
  const { data: figures } = useFigures();
  return (
    <div class="filters" role="search" aria-label="Filters">
      <Segments
        label="Status"
        choices={[
          ["", "All", figures && numberOf(figures.animals.total)],
          ...statuses.map(
            (status) => [status, filterWord(status), figures && numberOf(figures.animals[status])] as const,
          ),
        ]}
        chosen={query["status"] ?? ""}
        choose={(status) => filterBy({ status })}
      />
      <Search
        label="Search by name or id"
        hint="Name or id"
        value={query["name"] ?? ""}
        search={(name) => filterBy({ name })}
      />
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
      <SelectFilter name="sort" label="Order" all="Newest first" choices={[["id", "Oldest first"]]} />
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
  const [isRunning, setRunning] = useState(false);
  const sellable = pets.filter(({ status }) => status === "available");
  const free = pets.filter((pet) => !isHeld(pet, orders.get(pet.id)));
  const sellAll = async () => {
    setRunning(true);
    await sellPets(session.petstore, sellable);
    setRunning(false);
    clear();
  };
  const remove = () => {
    deletePets(session, free);
    clear();
  };
  return (
    <div class="selection" role="region" aria-label="Selected animals" aria-busy={isRunning}>
      <span>{countOf(pets.length, "animal")} selected</span>
      {sellable.length > 0 && may("placeStoreOrder") && (
        <button type="button" disabled={isRunning} onClick={() => void sellAll()}>
          {sellable.length < pets.length ? `Sell ${numberOf(sellable.length)} available` : "Sell"}
        </button>
      )}
      {free.length > 0 && (
        <button type="button" disabled={isRunning} onClick={() => begin({ kind: "correct", pets: free })}>
          Correct status…
        </button>
      )}
      {free.length > 0 && may("deletePet") && (
        <button type="button" class="bad" disabled={isRunning} onClick={remove}>
          Delete
        </button>
      )}
      <button type="button" class="quiet" onClick={clear}>
        Clear
      </button>
    </div>
  );
}
