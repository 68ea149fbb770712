import type { Pet, StoreOrder } from "petstore-client";
import { useRef, useState } from "preact/hooks";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { PetHistory } from "../events/pet-history.tsx";
import { orderColumns } from "../orders/order-rows.tsx";
import { ORDERS } from "../orders/orders.ts";
import { Link } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { type Fact, Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { moneyOf } from "../ui/money.ts";
import { Page } from "../ui/page.tsx";
import { useShortcut } from "../ui/shortcuts.tsx";
import { Table } from "../ui/table.tsx";
import { PetActions, PetDialog, type PetTask } from "./pet-actions.tsx";
import { PetState } from "./pet-state.tsx";
import { PETS } from "./pets.ts";

/** How many of the animal's orders are shown. */
const ORDERS_SHOWN = 20;
const columns = orderColumns(false);

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
  const [task, begin] = useState<PetTask>();
  const shown = useRef(data);
  // An animal that somebody else deletes stays until an open dialog is closed: the error in the dialog says why.
  if (data || !task) shown.current = data;
  const pet = shown.current;
  if (pet) return <AnimalDetails of={pet} task={task} begin={begin} />;
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
  readonly task: PetTask | undefined;
  readonly begin: (task: PetTask | undefined) => void;
}

function AnimalDetails({ of: pet, task, begin }: DetailsProps) {
  const may = useMay();
  const { data: categories } = useCategories();
  const orders = usePetOrders(pet.id);
  const newest = orders.data?.[0];
  useShortcut("e", "Edit the animal", may("updatePet") ? () => begin({ kind: "edit", pets: [pet] }) : undefined);
  return (
    <Page title={pet.name} isName note={`No. ${pet.id}`} actions={<PetActions of={pet} order={newest} begin={begin} />}>
      <Facts
        of={[
          ["Status", <PetState of={pet} order={newest} />],
          [
            "Category",
            <Link to="/animals" query={{ category: String(pet.categoryId) }}>
              <CategoryName id={pet.categoryId} of={categories} />
            </Link>,
          ],
          ["Price", pet.price && moneyOf(pet.price)],
          ["Reference", pet.reference && <bdi>{pet.reference}</bdi>],
          ...Object.entries(pet.metadata ?? {}).map((pair) => pair.map((text) => <bdi>{text}</bdi>) as unknown as Fact),
        ]}
      />
      {orders.data?.length !== 0 && may("listStoreOrders") && (
        <section>
          <h2>Orders</h2>
          <Table<StoreOrder> label="Orders of the animal" query={orders} columns={columns} empty={null} />
        </section>
      )}
      <PetHistory id={pet.id} />
      <PetDialog of={task} onClose={() => begin(undefined)} />
    </Page>
  );
}

function usePetOrders(id: bigint) {
  const { petstore } = useSession();
  const may = useMay();
  return useQuery(may("listStoreOrders") ? `${ORDERS}?petId=${id}` : undefined, () =>
    petstore.listStoreOrders({ petId: [id], sort: "-id", limit: ORDERS_SHOWN }).page(),
  );
}
