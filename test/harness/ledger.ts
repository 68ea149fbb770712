/** An animal without its id. Numbers are the digits that stood in the text, so that none is rounded. */
export interface SentAnimal {
  readonly name: string;
  readonly categoryId: string;
  readonly status?: string;
}

/** An animal as the service shows it. */
export interface ShownAnimal extends SentAnimal {
  readonly id: string;
}

/** Reads a body with its numbers as the digits that stand in it. */
export function readExactly(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) => (typeof value === "number" ? source : value));
}

interface Entry {
  readonly sent: SentAnimal;
  id?: string;
  /** `gone`: it was never acknowledged, and a restart has shown that it is not there. */
  fate: "unknown" | "acknowledged" | "gone";
  isSeen: boolean;
}

/**
 * What a client knows of the animals that it sent, and what must hold. Each acknowledged animal is stored exactly once,
 * as it was sent. No animal is stored that was not sent. No id is given twice. The names of the animals sent must be
 * unique.
 */
export class Ledger {
  /** What went against this so far, in words. */
  readonly violations: string[] = [];
  acknowledged = 0;
  /** Animals that were acknowledged and are missing, and animals that are there twice. */
  lost = 0;
  duplicated = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #nameById = new Map<string, string>();
  #unsettled: Entry[] = [];

  /** Records an animal that is about to be sent. */
  send(animal: SentAnimal): void {
    const entry: Entry = { sent: animal, fate: "unknown", isSeen: false };
    this.#entries.set(animal.name, entry);
    this.#unsettled.push(entry);
  }

  /** Records a 201 with its body, or without one if the response broke off after its headers. */
  acknowledge({ name }: SentAnimal, shown?: ShownAnimal): void {
    const entry = this.#entries.get(name) as Entry;
    entry.fate = "acknowledged";
    this.acknowledged++;
    if (shown) this.#compare(entry, shown, "was acknowledged as");
  }

  /** Records an animal that the store has after a restart. */
  see(shown: ShownAnimal): void {
    const entry = this.#entries.get(shown.name);
    if (!entry) {
      this.violations.push(`an unknown animal is there: ${JSON.stringify(shown)}`);
      return;
    }
    if (entry.fate === "gone") this.violations.push(`${describe(entry)} was gone and is there again`);
    this.#compare(entry, shown, "is there as");
    entry.isSeen = true;
  }

  /** Settles what was sent since the last time, once all that is there of it has been seen. */
  settle(): void {
    for (const entry of this.#unsettled) {
      if (entry.isSeen)
        entry.fate = "acknowledged"; // the service has shown it: it may not take it back
      else if (entry.fate === "acknowledged") {
        this.lost++;
        this.violations.push(`${describe(entry)} was acknowledged and is missing`);
      } else entry.fate = "gone";
    }
    this.#unsettled = [];
  }

  /** Notes that an animal has an id, for good: no other may ever have it. */
  claim(id: string, name: string): void {
    const owner = this.#nameById.get(id);
    if (owner !== undefined && owner !== name) {
      this.violations.push(`the id ${id} was given twice, to ${JSON.stringify(owner)} and ${JSON.stringify(name)}`);
    }
    this.#nameById.set(id, name);
  }

  /** From now on, every stored animal must be seen once more. Returns their number. */
  expectAllAgain(): number {
    this.#unsettled = [...this.#entries.values()].filter(({ fate }) => fate === "acknowledged");
    for (const entry of this.#unsettled) entry.isSeen = false;
    return this.#unsettled.length;
  }

  #compare(entry: Entry, shown: ShownAnimal, verb: string): void {
    const { id, ...rest } = shown;
    const { name, categoryId, status } = entry.sent;
    const isSame = rest.name === name && rest.categoryId === categoryId && rest.status === status;
    if (!isSame || Object.keys(rest).length !== Object.keys(entry.sent).length) {
      this.violations.push(`${describe(entry)} ${verb} ${JSON.stringify(shown)}`);
    }
    if (entry.id !== undefined && entry.id !== id) {
      this.duplicated++;
      this.violations.push(`${describe(entry)} has two ids, ${entry.id} and ${id}`);
    }
    entry.id = id;
    this.claim(id, name);
  }
}

function describe({ sent, id }: Entry): string {
  return `${JSON.stringify(sent)}${id === undefined ? "" : ` (id ${id})`}`;
}
