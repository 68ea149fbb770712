import type { Category, Pet, StoreOrder } from "petstore-client";
import { useEffect, useRef, useState } from "preact/hooks";
import { folded } from "../../../csv/name-key.ts";
import { referenceOf } from "../animals/pet-name.tsx";
import { PetState } from "../animals/pet-state.tsx";
import { FILTERED, findPets } from "../animals/pets.ts";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { useOrdersOf } from "../orders/orders-of.ts";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { Combobox, useTyped } from "../ui/combobox.tsx";
import { moneyOf } from "../ui/money.ts";

/** An animal, and the order that holds it. */
export interface Picked {
  readonly pet: Pet;
  readonly order: StoreOrder | undefined;
}

interface PetLineProps {
  readonly of: Picked;
  readonly categories: ReadonlyMap<bigint, Category> | undefined;
  /** True where a field has the price. */
  readonly withoutPrice?: boolean;
}

/** An animal among suggestions, with its category and state. */
export const PetLine = ({ of: { pet, order }, categories, withoutPrice }: PetLineProps) => (
  <>
    <span class="animal">
      <bdi class="title">{pet.name}</bdi>
      <span class="fine">
        <CategoryName id={pet.categoryId} of={categories} /> · {referenceOf(pet)}
        {!withoutPrice && pet.price && ` · ${moneyOf(pet.price)}`}
      </span>
    </span>
    <PetState of={pet} order={order} isShort />
  </>
);

/** The animal that a text means: its number or reference, or a name that only one of those that can be chosen has. */
function meantBy(text: string, choosable: readonly Picked[]): Picked | undefined {
  const numbered = choosable.find(({ pet }) => String(pet.id) === text || pet.reference === text);
  const named = choosable.filter(({ pet }) => folded(pet.name) === folded(text));
  return numbered ?? (named.length === 1 ? named[0] : undefined);
}

interface PetPickerProps {
  readonly pick: (picked: Picked) => void;
  /** Whether an animal can be chosen. */
  readonly isChoosable: (one: Picked) => boolean;
}

/**
 * A field to choose an animal of the shop. Enter chooses one that was pointed at by arrow keys, or that the text means: of
 * several that it may mean none is chosen.
 */
export function PetPicker({ pick, isChoosable }: PetPickerProps) {
  const { petstore } = useSession();
  const { data: categories } = useCategories();
  const [text, setText] = useState("");
  const [entered, setEntered] = useState<string>();
  const [asked, ask] = useTyped(text);
  const { data, error, reload } = useQuery(`${FILTERED} suggested ${asked}`, () => findPets(petstore, asked));
  const before = useRef(data);
  if (data) before.current = data; // they stay until there are others
  const pets = before.current ?? [];
  const orders = useOrdersOf(data);
  const found = pets.map((pet): Picked => ({ pet, order: orders.get(pet.id) }));
  const choosable = found.filter(isChoosable);
  const isCurrent = data !== undefined && asked === text.trim();
  const meant = isCurrent && text.trim() ? meantBy(text.trim(), choosable) : undefined;
  useEffect(() => {
    if (entered === text.trim() && meant) pick(meant); // as soon as the service has answered
  }, [entered, meant]);
  return (
    <Combobox
      label="Animal"
      text={text}
      type={(typed) => {
        setText(typed);
        setEntered(undefined);
      }}
      suggestions={found.map((one) => ({
        key: String(one.pet.id),
        isDisabled: !isChoosable(one),
        shown: <PetLine of={one} categories={categories} />,
        choose: () => pick(one),
      }))}
      areOld={!isCurrent}
      enter={() => {
        setEntered(text.trim());
        ask();
      }}
      error={error}
      retry={reload}
    >
      {isCurrent && text.trim() && !meant && hintOf(found, choosable, data.next !== undefined, entered !== undefined)}
    </Combobox>
  );
}

/** Why nothing is chosen yet. */
function hintOf(
  found: readonly Picked[],
  choosable: readonly Picked[],
  hasMore: boolean,
  isEntered: boolean,
): string | undefined {
  if (found.length === 0) return "No animal has this name, number or reference.";
  if (hasMore) return "There are more: type more of the name, or the number.";
  if (choosable.length === 0) return "None of these can be sold.";
  return isEntered ? "Choose with the arrow keys or the pointer." : undefined;
}
