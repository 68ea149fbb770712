import type { Pet, StoreOrder } from "petstore-client";
import { useRef, useState } from "preact/hooks";
import { go, Link } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { useCategories } from "../shop/categories.ts";
import { CategoryName } from "../shop/category-name.tsx";
import { orderColumns } from "../shop/order-rows.tsx";
import { ORDERS } from "../shop/orders.ts";
import { EditPet } from "../shop/pet-dialog.tsx";
import { PetHistory } from "../shop/pet-history.tsx";
import { StatusSelect } from "../shop/pet-status.tsx";
import { deletePets, PETS } from "../shop/pets.ts";
import { SellPet } from "../shop/sell-pet.tsx";
import { useShortcut } from "../shortcuts.tsx";
import { type Fact, Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";

/** How many of the animal's orders are shown. */
const ORDERS_SHOWN = 20;
const columns = orderColumns(false);

/** The open dialog. */
type Dialog = "edit" | "sell" | undefined;

/** One animal: its fields, its orders and its history. */
export function Animal({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const id = params["petId"] ?? "";
  const { petstore } = useSession();
  const query = useQuery<Pet | null>(`${PETS}/${id}`, async () => {
    if (!/^\d{1,19}$/.test(id)) return null;
    // `getPet` is deprecated.
    const [found] = await petstore.listPets({ ids: [BigInt(id)] }).page();
    return found ?? null;
  });
  const { data } = query;
  const [dialog, setDialog] = useState<Dialog>();
  const shown = useRef(data);
  // An animal that somebody else deletes stays until an open dialog is closed: the error in the dialog says why.
  if (data || !dialog) shown.current = data;
  const pet = shown.current;
  if (pet) return <AnimalDetails of={pet} dialog={dialog} setDialog={setDialog} />;
  return (
    <Page title={`Animal ${id}`}>
      <Loading of={query} />
      {pet === null && (
        <p class="empty">
          No animal has this number. It may have been deleted. <Link to="/animals">All animals</Link>
        </p>
      )}
    </Page>
  );
}

interface DetailsProps {
  readonly of: Pet;
  readonly dialog: Dialog;
  readonly setDialog: (dialog: Dialog) => void;
}

function AnimalDetails({ of: pet, dialog, setDialog }: DetailsProps) {
  const session = useSession();
  const may = useMay();
  const { data: categories } = useCategories();
  const close = () => setDialog(undefined);
  const remove = () => {
    deletePets(session, [pet]);
    go("/animals");
  };
  useShortcut("e", "Edit the animal", may("updatePet") ? () => setDialog("edit") : undefined);
  return (
    <Page
      title={pet.name}
      isName
      actions={
        <>
          {may("placeStoreOrder") && pet.status === "available" && (
            <button type="button" class="main" onClick={() => setDialog("sell")}>
              Sell
            </button>
          )}
          {may("updatePet") && (
            <button type="button" onClick={() => setDialog("edit")}>
              Edit
            </button>
          )}
          {may("deletePet") && (
            <button type="button" class="bad" onClick={remove}>
              Delete
            </button>
          )}
        </>
      }
    >
      <Facts
        of={[
          ["Status", <StatusSelect of={pet} />],
          [
            "Category",
            <Link to="/animals" query={{ category: String(pet.categoryId) }}>
              <CategoryName id={pet.categoryId} of={categories} />
            </Link>,
          ],
          ["Id", <span class="number">{String(pet.id)}</span>],
          ...Object.entries(pet.metadata ?? {}).map((pair) => pair.map((text) => <bdi>{text}</bdi>) as unknown as Fact),
        ]}
      />
      {may("listStoreOrders") && <PetOrders of={pet} />}
      <PetHistory id={pet.id} />
      {dialog === "edit" && <EditPet id={pet.id} onClose={close} />}
      {dialog === "sell" && <SellPet of={pet} onClose={close} />}
    </Page>
  );
}

function PetOrders({ of: { id } }: { readonly of: Pet }) {
  const { petstore } = useSession();
  const query = useQuery(`${ORDERS}?petId=${id}`, () =>
    petstore.listStoreOrders({ petId: id, sort: "-id", limit: ORDERS_SHOWN }).page(),
  );
  if (query.data?.length === 0) return null;
  return (
    <section>
      <h2>Orders</h2>
      <Table<StoreOrder> label="Orders of the animal" query={query} columns={columns} empty={null} />
    </section>
  );
}
