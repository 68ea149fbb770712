import type { Client } from "./client.ts";
import { type Ledger, readExactly, type SentAnimal, type ShownAnimal } from "./ledger.ts";
import type { Random } from "./random.ts";

const statuses = ["available", "pending", "sold"];
/** What a name may be filled up with: all that must be escaped or takes more than a byte somewhere. */
const fillings = ["", " ", '"\\/', "\u00ad\u200b", "Ünïcødé", "猫", "🐈", "}{][,:", "e\u0301", "\u2027"];

/** Makes animals that differ in name, length of the row, sign and size of the category, and status. */
export class Animals {
  readonly #random: Random;
  #made = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  next(): SentAnimal {
    const random = this.#random;
    const name = `${++this.#made} ${random.pick(fillings).repeat(random.below(20))}`;
    const animal = { name, categoryId: random.int64() };
    return random.below(4) === 0 ? animal : { ...animal, status: random.pick(statuses) };
  }
}

/** The body that creates an animal, with all digits of its category. */
export function createBody({ name, categoryId, status }: SentAnimal): string {
  const more = status === undefined ? "" : `,"status":${JSON.stringify(status)}`;
  return `{"name":${JSON.stringify(name)},"categoryId":${categoryId}${more}}`;
}

/** Creates animals over many connections at once until the service is gone. */
export async function createUntilGone(
  client: Client,
  connections: number,
  animals: Animals,
  ledger: Ledger,
  isGone: () => boolean,
): Promise<void> {
  const connection = async () => {
    for (;;) {
      const animal = animals.next();
      ledger.send(animal);
      const response = await client.call("POST", "/pets", createBody(animal)).catch((error: unknown) => error);
      if (response instanceof Error) {
        if (!isGone()) ledger.violations.push(`a running service did not answer: ${response.message}`);
        return;
      }
      const { status, text } = response as Awaited<ReturnType<Client["call"]>>;
      if (status !== 201) ledger.violations.push(`createPet was answered with ${status}: ${text}`);
      else if (text === undefined) ledger.acknowledge(animal);
      else ledger.acknowledge(animal, readExactly(text) as ShownAnimal);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
}
