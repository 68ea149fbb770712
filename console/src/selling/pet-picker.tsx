import type { Category, Page, Pet, Petstore, StoreOrder } from "petstore-client";
import { useEffect, useState } from "preact/hooks";
import { PetState } from "../animals/pet-state.tsx";
import { FILTERED } from "../animals/pets.ts";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { useOrdersOf } from "../orders/orders-of.ts";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { Combobox, useTyped } from "../ui/combobox.tsx";
import { ErrorNote } from "../ui/error-note.tsx";

const SUGGESTED = 6;

/** Animals by id or by a part of their name; without a text, the newest that are available. */
async function find(petstore: Petstore, text: string, cursor?: string): Promise<Page<Pet>> {
  if (/^\d{1,18}$/.test(text)) {
    const found = await petstore.listPets({ ids: [BigInt(text)] }).page();
    if (found.length > 0) return found;
  }
  const filter = text ? { name: text } : { status: "available" as const };
  return petstore.listPets({ ...filter, sort: "-id", limit: SUGGESTED, ...(cursor && { cursor }) }).page();
}

/** What the service is asked for. A long list is searched in parts: `before` are those that earlier parts had. */
interface Asked {
  readonly text: string;
  readonly cursor?: string | undefined;
  readonly before: readonly Pet[];
}

/** An animal, and the order that holds it. */
export interface Picked {
  readonly pet: Pet;
  readonly order: StoreOrder | undefined;
}

interface PetLineProps {
  readonly of: Picked;
  readonly categories: ReadonlyMap<bigint, Category> | undefined;
}

/** An animal among suggestions, with its category and state. */
export const PetLine = ({ of: { pet, order }, categories }: PetLineProps) => (
  <>
    <bdi class="title">{pet.name}</bdi>
    <span class="fine">
      <CategoryName id={pet.categoryId} of={categories} /> · {String(pet.id)}
    </span>
    <PetState of={pet} order={order} isShort />
  </>
);

interface PetPickerProps {
  readonly label: string;
  readonly picked: Picked | undefined;
  readonly pick: (picked: Picked | undefined) => void;
  /** Whether an animal can be chosen. */
  readonly isChoosable: (one: Picked) => boolean;
}

/** A field to choose an animal of the shop by name or id. Its suggestions show the category and the state of each. */
export function PetPicker({ label, picked, pick, isChoosable }: PetPickerProps) {
  const { petstore } = useSession();
  const { data: categories } = useCategories();
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(true);
  const [asked, ask] = useState<Asked>({ text: "", before: [] });
  const typed = useTyped(text);
  useEffect(() => ask({ text: typed, before: [] }), [typed]);
  const { data, error, reload } = useQuery(`${FILTERED} suggested ${asked.text} ${asked.cursor ?? ""}`, () =>
    find(petstore, asked.text, asked.cursor),
  );
  const pets = [...asked.before, ...(data ?? [])];
  const orders = useOrdersOf(pets);
  const found = pets.map((pet): Picked => ({ pet, order: orders.get(pet.id) }));
  const isCurrent = data !== undefined && asked.text === text.trim();
  const first = found.find(isChoosable);

  // What is typed chooses the first that matches, so that Enter is enough. An empty field chooses none.
  useEffect(() => {
    if (isOpen) pick(isCurrent && text.trim() ? first : undefined);
  }, [isCurrent, asked.text, first?.pet.id, first?.order?.id]);
  const type = (entered: string) => {
    setText(entered);
    setOpen(true);
    pick(undefined);
  };
  const withId = (key: string) => found.find(({ pet }) => key === String(pet.id));
  return (
    <div class="field">
      <Combobox
        label={label}
        placeholder="Name or id"
        text={text}
        type={type}
        isOpen={isOpen}
        suggestions={found.map((one) => ({
          key: String(one.pet.id),
          isDisabled: !isChoosable(one),
          shown: <PetLine of={one} categories={categories} />,
        }))}
        active={picked && String(picked.pet.id)}
        activate={(key) => {
          setOpen(true);
          pick(withId(key));
        }}
        choose={(key) => {
          const one = withId(key) as Picked;
          setText(one.pet.name);
          setOpen(false);
          pick(one);
        }}
      />
      <ErrorNote error={error} retry={reload} />
      {isOpen && isCurrent && !first && (text.trim() || data.next) && (
        <p class="fine" role="status">
          {found.length > 0
            ? "None of these can be chosen."
            : data.next
              ? "Not found among the first animals."
              : "No animal has this name or id."}
        </p>
      )}
      {isOpen && isCurrent && data.next && text.trim() && (
        <button type="button" class="link" onClick={() => ask({ text: asked.text, cursor: data.next, before: pets })}>
          Search further
        </button>
      )}
    </div>
  );
}
