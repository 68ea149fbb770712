import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { startAdding } from "../animals/pet-dialog.tsx";
import { FILTERED, findPets } from "../animals/pets.ts";
import { useCategories } from "../categories/categories.ts";
import { ORDERS, orderName } from "../orders/orders.ts";
import { useReserved } from "../orders/orders-of.ts";
import { go } from "../router.tsx";
import { PetLine } from "../selling/pet-picker.tsx";
import { interruption, tightestWindow } from "../service/connection.ts";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { Combobox, type Suggestion, useTyped } from "../ui/combobox.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SEARCH_KEY, shortcuts, useShortcut } from "../ui/shortcuts.tsx";
import { Status } from "../ui/status.tsx";
import { Countdown } from "../ui/time.tsx";
import { useWatchable } from "../watchable.ts";

/** How many animals, and how many orders, are shown. */
const SHOWN = 6;
const SEARCH = "Search";

/** The search of everything, which two shortcuts open. */
export function Search() {
  const [isOpen, setOpen] = useState(false);
  useShortcut(SEARCH_KEY, SEARCH, () => setOpen(true));
  useShortcut("/", SEARCH, () => setOpen(true));
  return isOpen ? <SearchDialog onClose={() => setOpen(false)} /> : null;
}

const PAGE = "Go to ";
const ADD = "Add animal";

/** Actions and pages: those of all shortcuts, and adding an animal, which only some pages have. */
function useDeeds(isMatch: (name: string) => boolean): readonly Suggestion[] {
  const may = useMay();
  const deeds = useWatchable(shortcuts).filter(({ meaning }) => meaning !== SEARCH);
  const isThere = !may("createPet") || deeds.some(({ meaning }) => meaning === ADD);
  return [...deeds, ...(isThere ? [] : [{ meaning: ADD, keys: "", run: startAdding }])]
    .map(({ meaning, keys, run }) => ({ name: meaning.replace(PAGE, ""), meaning, keys, run }))
    .filter(({ name }) => isMatch(name))
    .toSorted((one, other) => +(one.name !== one.meaning) - +(other.name !== other.meaning))
    .map(({ name, keys, run }) => ({
      key: name,
      shown: <Line title={name}>{keys && <kbd class="wide">{keys}</kbd>}</Line>,
      choose: run,
    }));
}

/** Animals and orders that a text finds: those that are meant exactly first. "Order 23" is the order with this number. */
function useFound(text: string) {
  const { petstore } = useSession();
  const may = useMay();
  const [, number] = /^order\s*#?(\d{1,18})$/i.exec(text) ?? [];
  const pets = useQuery(text && !number ? `${FILTERED} found ${text}` : undefined, () =>
    findPets(petstore, text, SHOWN),
  );
  const orders = useQuery(text && may("listStoreOrders") ? `${ORDERS}?found ${text}` : undefined, () =>
    petstore.listStoreOrders({ ...(number ? { ids: [BigInt(number)] } : { search: text }), limit: SHOWN }).page(),
  );
  return { pets, orders, isDone: (number || pets.data) && (orders.data ?? !may("listStoreOrders")) };
}

function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const { data: categories } = useCategories();
  const [text, setText] = useState("");
  const [typed] = useTyped(text);
  const { pets, orders, isDone } = useFound(typed);
  const { data: open = [] } = useReserved();
  const { data } = pets;
  const isMatch = (name: string) => ` ${name}`.toLowerCase().includes(` ${text.trim().toLowerCase()}`);
  const found: readonly Suggestion[] = [
    ...useDeeds(isMatch),
    ...[...(categories?.values() ?? [])]
      .filter(({ name }) => text.trim() && isMatch(name))
      .slice(0, SHOWN)
      .map(({ id, name }) => ({
        key: `category-${id}`,
        shown: <Line title={name} kind="Category" />,
        choose: () => go("/animals", { query: { category: String(id) } }),
      })),
    ...(data ?? []).map((pet) => ({
      key: `animal-${pet.id}`,
      shown: <PetLine of={{ pet, order: open.find(({ petId }) => petId === pet.id) }} categories={categories} />,
      choose: () => go(`/animals/${pet.id}`),
    })),
    ...(orders.data ?? []).map((order) => ({
      key: `order-${order.id}`,
      shown: (
        <Line title={orderName(order)} kind={order.reference && `Order ${order.id}`}>
          {order.petName && <bdi class="fine">{order.petName}</bdi>}
          <Status of={order.status} />
        </Line>
      ),
      choose: () => go(`/orders/${order.id}`),
    })),
  ];
  return (
    <Dialog title={SEARCH} onClose={onClose}>
      <Combobox
        label="Animals, orders, categories, pages and actions"
        text={text}
        type={setText}
        suggestions={found.map((one) => ({
          ...one,
          choose() {
            onClose();
            one.choose();
          },
        }))}
        error={pets.error ?? orders.error}
        retry={pets.reload}
      >
        {typed === text.trim() && (isDone || !typed) ? (
          found.length === 0 && "Nothing has this name, number or reference."
        ) : (
          <Waiting />
        )}
      </Combobox>
    </Dialog>
  );
}

/** Why the service has not answered yet, if requests must wait. */
function Waiting() {
  const { message } = useWatchable(interruption) ?? {};
  const { remaining, reset = 0 } = useWatchable(tightestWindow) ?? {};
  return (
    <>
      {message}
      {!message && !remaining && +reset > Date.now() && (
        <>
          The limit is used up. It continues in <Countdown until={reset} />
        </>
      )}
    </>
  );
}

interface LineProps {
  readonly title: string;
  readonly kind?: string | undefined;
  readonly children?: ComponentChildren;
}

const Line = ({ title, kind, children }: LineProps) => (
  <>
    <bdi class="title">{title}</bdi>
    {kind && <span class="fine">{kind}</span>}
    {children}
  </>
);
