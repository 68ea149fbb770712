import type { ListPetsQuery, Pet, PetStatus } from "petstore-client";
import { useState } from "preact/hooks";
import { choicesOf } from "../contract.ts";
import { listPetsQuery } from "../generated/contract.ts";
import { filterBy, Link, usePlace } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { useCategories } from "../shop/categories.ts";
import { CategoryName } from "../shop/category-name.tsx";
import { ExportPets } from "../shop/export-pets.tsx";
import { countIn, useFigures } from "../shop/figures.ts";
import { ImportPets } from "../shop/import-pets.tsx";
import { AddPet, EditPet } from "../shop/pet-dialog.tsx";
import { StatusSelect } from "../shop/pet-status.tsx";
import { deletePets, leaving, PETS, setStatus } from "../shop/pets.ts";
import { useShortcut } from "../shortcuts.tsx";
import { useStore } from "../store.ts";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { Search } from "../ui/search.tsx";
import { Segments } from "../ui/segments.tsx";
import { Table } from "../ui/table.tsx";
import { countOf, numberOf, wordOf } from "../ui/words.ts";

const PAGE = 50;
const statuses = choicesOf(listPetsQuery, "status") as readonly PetStatus[];

/** The animals of the shop. Filters, order and page are in the address. */
export function Animals() {
  const { petstore } = useSession();
  const may = useMay();
  const { query } = usePlace();
  const { status, category, sort = "-id", cursor } = query;
  const filters = { status, categoryId: category, name: query["name"], sort } as unknown as ListPetsQuery; // the service validates the address
  const asked = { ...filters, limit: PAGE, cursor };
  const key = `${PETS}?${JSON.stringify(asked)}`;
  const { data, error, reload } = useQuery(key, () => petstore.listPets(asked).page());
  const { data: categories } = useCategories();
  const hidden = useStore(leaving);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<"add" | "import" | "export" | bigint>();
  useShortcut("n", "Add an animal", may("createPet") ? () => setDialog("add") : undefined);

  const pets = data?.filter(({ id }) => !hidden.has(id));
  const chosen = pets?.filter(({ id }) => ticked.has(String(id))) ?? [];
  const isFiltered = Boolean(status || category || query["name"] || cursor);
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
              <button type="button" class="main" onClick={() => setDialog("add")}>
                Add animal
              </button>
            </>
          )}
        </>
      }
    >
      <Filters />
      <Table<Pet>
        label="Animals"
        items={pets}
        keyOf={({ id }) => String(id)}
        error={error}
        retry={reload}
        ticks={may("updatePet") ? { ticked, set: setTicked, nameOf: ({ name }) => name } : undefined}
        columns={[
          {
            head: "Name",
            isBroad: true,
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
          { head: "Category", isWide: true, cell: (pet) => <CategoryName id={pet.categoryId} of={categories} /> },
          { head: "Status", cell: (pet) => <StatusSelect pet={pet} /> },
          { head: "Id", isWide: true, isNumber: true, cell: ({ id }) => String(id) },
          {
            head: "",
            isWide: true,
            cell: (pet) => (
              <span class="row-actions">
                {may("updatePet") && (
                  <button type="button" class="quiet" onClick={() => setDialog(pet.id)} aria-label={`Edit ${pet.name}`}>
                    Edit
                  </button>
                )}
                {may("deletePet") && (
                  <button
                    type="button"
                    class="quiet"
                    onClick={() => deletePets(petstore, [pet])}
                    aria-label={`Delete ${pet.name}`}
                  >
                    Delete
                  </button>
                )}
              </span>
            ),
          },
        ]}
        empty={
          isFiltered ? (
            <>
              <p>No animal passes these filters.</p>
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
      {chosen.length > 0 && <Chosen pets={chosen} clear={() => setTicked(new Set())} />}
      <Pager next={data?.next} />
      {dialog === "add" && <AddPet onClose={close} />}
      {dialog === "import" && <ImportPets onClose={close} />}
      {dialog === "export" && <ExportPets filters={filters} onClose={close} />}
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
      <select
        aria-label="Category"
        value={query["category"] ?? ""}
        onChange={({ currentTarget }) => filterBy({ category: currentTarget.value })}
      >
        <option value="">All categories</option>
        {[...(categories?.values() ?? [])].map(({ id, name }) => {
          const count = countIn(figures, id);
          return (
            <option key={id} value={String(id)}>
              {name}
              {count !== undefined && ` (${numberOf(count)})`}
            </option>
          );
        })}
      </select>
      <select
        aria-label="Order"
        value={query["sort"] ?? "-id"}
        onChange={({ currentTarget }) => filterBy({ sort: currentTarget.value === "-id" ? "" : currentTarget.value })}
      >
        <option value="-id">Newest first</option>
        <option value="id">Oldest first</option>
      </select>
    </div>
  );
}

/** The actions for the selected animals. */
function Chosen({ pets, clear }: { readonly pets: readonly Pet[]; readonly clear: () => void }) {
  const { petstore } = useSession();
  const may = useMay();
  const [isRunning, setRunning] = useState(false);
  const mark = async (status: PetStatus) => {
    setRunning(true);
    await setStatus(petstore, pets, status);
    setRunning(false);
    clear();
  };
  const remove = () => {
    deletePets(petstore, pets);
    clear();
  };
  return (
    <div class="chosen" role="region" aria-label="Selected animals" aria-busy={isRunning}>
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
