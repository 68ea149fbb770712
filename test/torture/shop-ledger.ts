import type { SentAnimal, ShownAnimal } from "../harness/ledger.ts";

/** An order as the service shows it, as far as it is looked at. */
export interface ShownOrder {
  readonly id: string;
  readonly petId: string;
  readonly status: string;
}

/** An animal and the states of all its orders, the first one first: what changes together. */
export interface Stock {
  /** Undefined where it is not there: not yet, or not any more. */
  readonly animal: SentAnimal | undefined;
  readonly orders: readonly string[];
}

/** One animal of the shop through all that is done with it. Only one client at a time changes it. */
export interface TrackedPet {
  /** Never changes, and no other animal has it. */
  readonly name: string;
  /** Undefined until the service has told it. */
  id: string | undefined;
  readonly orderIds: string[];
  /** What was acknowledged, or found after a kill. */
  stock: Stock;
  /** What it becomes if the request that is not answered yet is done. */
  wanted: Stock | undefined;
}

/** Notes that an animal has an id; no two may have the same, ever. */
export type Claim = (id: string, name: string) => void;

const nothing: Stock = { animal: undefined, orders: [] };

/**
 * What clients know of animals that they change, sell and delete, and what must hold. After a kill, an animal and all
 * its orders are together in one of two states: as the last acknowledged request left them, or as the request without a
 * response leaves them.
 */
export class ShopLedger {
  readonly violations: string[] = [];
  acknowledged = 0;
  readonly #claim: Claim;
  readonly #pets = new Map<string, TrackedPet>();

  constructor(claim: Claim) {
    this.#claim = claim;
  }

  /** An animal that is about to be added. */
  begin(): TrackedPet {
    const name = `shop ${this.#pets.size + 1}`;
    const pet = { name, id: undefined, orderIds: [], stock: nothing, wanted: undefined };
    this.#pets.set(name, pet);
    return pet;
  }

  /** Whether an animal in the store is one of these, by its name. */
  owns({ name }: SentAnimal): boolean {
    return this.#pets.has(name);
  }

  /** How many animals must be there. */
  get present(): number {
    return [...this.#pets.values()].filter(({ stock }) => stock.animal).length;
  }

  /** Notes what is about to be sent. */
  ask(pet: TrackedPet, wanted: Stock): void {
    pet.wanted = wanted;
  }

  /** Records that the responses were as expected, and what they show. */
  acknowledge(pet: TrackedPet, shown: readonly (ShownAnimal | ShownOrder)[]): void {
    const stock = pet.wanted as Stock;
    pet.stock = stock;
    pet.wanted = undefined;
    this.acknowledged++;
    for (const one of shown) {
      if ("petId" in one) {
        if (!pet.orderIds.includes(one.id)) pet.orderIds.push(one.id);
        const last = { petId: pet.id, status: stock.orders.at(-1) };
        if (one.petId !== last.petId || one.status !== last.status) this.#tell(pet, "was acknowledged as", one);
      } else {
        this.#identify(pet, one.id);
        if (!isSame(withoutId(one), stock.animal)) this.#tell(pet, "was acknowledged as", one);
      }
    }
  }

  /** Compares with all that the store has after a kill, which counts from now on. */
  look(animals: readonly ShownAnimal[], orders: readonly ShownOrder[]): void {
    const byName = Map.groupBy(animals, ({ name }) => name);
    for (const { name } of animals)
      if (!this.#pets.has(name)) this.violations.push(`an unknown animal is there: ${name}`);
    const byAnimal = Map.groupBy(orders, ({ petId }) => petId);
    for (const pet of this.#pets.values()) {
      const [found, twin] = byName.get(pet.name) ?? [];
      if (twin) this.violations.push(`${pet.name} is there twice`);
      if (found) this.#identify(pet, found.id);
      const own = byAnimal.get(pet.id ?? "none") ?? [];
      byAnimal.delete(pet.id ?? "none");
      this.#compare(pet, { animal: found && withoutId(found), orders: own.map(({ status }) => status) });
      const ids = own.map(({ id }) => id);
      if (pet.orderIds.some((id, index) => ids[index] !== id)) {
        this.#tell(pet, "had other orders:", pet.orderIds);
      }
      pet.orderIds.splice(0, Number.POSITIVE_INFINITY, ...ids);
    }
    for (const petId of byAnimal.keys()) this.violations.push(`orders for ${petId} are there, which nobody sent`);
  }

  #compare(pet: TrackedPet, found: Stock): void {
    const { stock, wanted } = pet;
    if (!isSame(found, stock) && !(wanted && isSame(found, wanted))) {
      const or = wanted ? ` or, whole, ${JSON.stringify(wanted)}` : "";
      this.violations.push(
        `${pet.name} (id ${pet.id}) must be ${JSON.stringify(stock)}${or}, and is ${JSON.stringify(found)}`,
      );
    }
    pet.stock = found;
    pet.wanted = undefined;
  }

  #identify(pet: TrackedPet, id: string): void {
    if (pet.id !== undefined && pet.id !== id) this.#tell(pet, "has another id:", id);
    pet.id = id;
    this.#claim(id, pet.name);
  }

  #tell({ name, id, stock }: TrackedPet, what: string, shown: unknown): void {
    this.violations.push(`${name} (id ${id}, ${JSON.stringify(stock)}) ${what} ${JSON.stringify(shown)}`);
  }
}

function withoutId({ name, categoryId, status }: ShownAnimal): SentAnimal {
  return status === undefined || status === null ? { name, categoryId } : { name, categoryId, status };
}

function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other, true);
}
