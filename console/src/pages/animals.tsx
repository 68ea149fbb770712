import type { ListPetsQuery, Page as PageOf, Pet, PetStatus, Petstore } from "petstore-client";
import { useState } from "preact/hooks";
import { choicesOf } from "../contract.ts";
import { listPetsQuery } from "../generated/contract.ts";
import { filterBy, Link, type Query, usePlace } from "../router.tsx";
import { type QueryInputs, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { useCategories } from "../shop/categories.ts";
import { CategoryName } from "../shop/category-name.tsx";
import { ExportPets } from "../shop/export-pets.tsx";
import { countIn, useFigures } from "../shop/figures.ts";
import { ImportPets } from "../shop/import-pets.tsx";
import { AddPet, EditPet } from "../shop/pet-dialog.tsx";
import { StatusSelect } from "../shop/pet-status.tsx";
import { deletePets, FILTERED, PETS, pendingDeletions, setStatus } from "../shop/pets.ts";
import { SelectFilter } from "../ui/filters.tsx";
import { MainButton } from "../ui/main-button.tsx";
import { Page } from "../ui/page.tsx";
import { NONE_HERE, Pager } from "../ui/pager.tsx";
import { RowButton } from "../ui/row-button.tsx";
import { Search } from "../ui/search.tsx";
import { Segments } from "../ui/segments.tsx";
import { Table } from "../ui/table.tsx";
import { countOf, numberOf, wordOf } from "../ui/words.ts";
import { useWatchable } from "../watchable.ts";

const PAGE_SIZE = 50;
const statuses = choicesOf(listPetsQuery, "status") as readonly PetStatus[];

function filtersIn({ status, category, name, sort = "-id" }: Query): ListPetsQuery {
  return { status, categoryId: category, name, sort } as unknown as ListPetsQuery; // the service validates the address
}

const isFiltered = ({ status, category, name }: Query) => status || category || name;

export function petsQuery(petstore: Petstore, query: Query): QueryInputs<PageOf<Pet>> {
  const listQuery = { ...filtersIn(query), limit: PAGE_SIZE, cursor: query["cursor"] };
  return [
    `${isFiltered(query) ? FILTERED : `${PETS}?`}${JSON.stringify(listQuery)}`,
    () => petstore.listPets(listQuery).page(),
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
  const [dialog, setDialog] = useState<"add" | "import" | "export" | bigint>();

  const pets = data?.filter(({ id }) => !hidden.has(id));
  const chosen = pets?.filter(({ id }) => ticked.has(String(id))) ?? [];
  const close = () => setDialog(undefined);
  return (
    <Page
      title="Animals"
      actions={
        <>
          <button type="button" onClick={() => setDialog("export")}>
            Export
          </button>
          {may("createPet") && (
            <>
              <button type="button" onClick={() => setDialog("import")}>
                Import
              </button>
              <MainButton text="Add animal" onClick={() => setDialog("add")} />
            </>
          )}
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
            cell: (pet) => (
              <>
                <Link to={`/animals/${pet.id}`} class="title">
                  <bdi>{pet.name}</bdi>
                </Link>
                <span class="narrow fine">
                  <CategoryName id={pet.categoryId} of={categories} />
                </span>
              </>
            ),
          },
          {
            head: "Category",
            hidesOnNarrow: true,
            cell: (pet) => <CategoryName id={pet.categoryId} of={categories} />,
          },
          { head: "Status", cell: (pet) => <StatusSelect of={pet} /> },
          { head: "Id", hidesOnNarrow: true, isNumber: true, cell: ({ id }) => String(id) },
          {
            head: "",
            hidesOnNarrow: true,
            cell: (pet) => (
              <span class="row-actions">
                {may("updatePet") && <RowButton text="Edit" of={pet.name} onClick={() => setDialog(pet.id)} />}
                {may("deletePet") && (
                  <RowButton text="Delete" of={pet.name} onClick={() => deletePets(session, [pet])} />
                )}
              </span>
            ),
          },
        ]}
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
                <button type="button" class="main" onClick={() => setDialog("add")}>
                  Add the first animal
                </button>
              )}
            </>
          )
        }
      />
      {chosen.length > 0 && <SelectionActions of={chosen} clear={() => setTicked(new Set())} />}
      <Pager next={data?.next} />
      {dialog === "add" && <AddPet onClose={close} />}
      {dialog === "import" && <ImportPets onClose={close} />}
      {dialog === "export" && <ExportPets filters={filtersIn(query)} onClose={close} />}
      {typeof dialog === "bigint" && <EditPet id={dialog} onClose={close} />}
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
        choices={[["", "All"], ...statuses.map((status) => [status, wordOf(status)] as const)]}
        chosen={query["status"] ?? ""}
        choose={(status) => filterBy({ status })}
      />
      <Search label="Search by name" value={query["name"] ?? ""} search={(name) => filterBy({ name })} />
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

/** The actions for the selected animals. */
function SelectionActions({ of: pets, clear }: { readonly of: readonly Pet[]; readonly clear: () => void }) {
  const session = useSession();
  const may = useMay();
  const [isRunning, setRunning] = useState(false);
  const mark = async (status: PetStatus) => {
    setRunning(true);
    await setStatus(session.petstore, pets, status);
    setRunning(false);
    clear();
  };
  const remove = () => {
    deletePets(session, pets);
    clear();
  };
  return (
    <div class="selection" role="region" aria-label="Selected animals" aria-busy={isRunning}>
      <span>{countOf(pets.length, "animal")} selected</span>
      {statuses.map((status) => (
        <button key={status} type="button" disabled={isRunning} onClick={() => void mark(status)}>
          Mark as {status}
        </button>
      ))}
      {may("deletePet") && (
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
