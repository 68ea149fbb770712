import { createBody } from "../harness/animals.ts";
import type { Client, ClientResponse } from "../harness/client.ts";
import { readExactly, type SentAnimal, type ShownAnimal } from "../harness/ledger.ts";
import { Random } from "../harness/random.ts";
import type { ShopLedger, ShownOrder, Stock, TrackedPet } from "./shop-ledger.ts";

const TILLS = 8;
const ANIMALS_PER_TILL = 3;

/** What can be done with an animal: one request or more at once, and the statuses of their responses in ascending order. */
interface Move {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly expectedStatuses: readonly number[];
  /** What it comes to. */
  readonly wanted: Stock;
}

/** The tills of a shop. Each adds its own animals, changes, orders, sells, takes back and deletes them. */
export class OrderWorkload {
  readonly #ledger: ShopLedger;
  readonly #tills: readonly { readonly random: Random; readonly pets: TrackedPet[] }[];

  constructor(seed: number, ledger: ShopLedger) {
    this.#ledger = ledger;
    this.#tills = Array.from({ length: TILLS }, (_, till) => ({
      random: new Random(seed + till),
      pets: Array.from({ length: ANIMALS_PER_TILL }, () => ledger.begin()),
    }));
  }

  /** All tills at once, until the service is gone. */
  async untilGone(client: Client, isGone: () => boolean): Promise<void> {
    await Promise.all(
      this.#tills.map(async ({ random, pets }) => {
        do {
          for (const [index, { id, stock }] of pets.entries()) {
            if (id !== undefined && !stock.animal) pets[index] = this.#ledger.begin();
          }
        } while (await this.#move(client, random.pick(pets), random, isGone));
      }),
    );
  }

  /** Sends a random request for an animal. False if a response was missing, incomplete or wrong. */
  async #move(client: Client, pet: TrackedPet, random: Random, isGone: () => boolean): Promise<boolean> {
    const { method, path, body, expectedStatuses, wanted } = random.pick(movesOf(pet, random));
    this.#ledger.ask(pet, wanted);
    const sent = await Promise.allSettled(expectedStatuses.map(() => client.call(method, path, body)));
    const answered = sent.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const isWhole = answered.length === expectedStatuses.length;
    const statuses = answered.map(({ status }) => status).toSorted((one, other) => one - other);
    const isRight = isWhole
      ? Bun.deepEquals(statuses, expectedStatuses)
      : statuses.every((status) => expectedStatuses.includes(status));
    const problem = `${method} ${path} ${body ?? ""} of ${JSON.stringify(pet.stock)}`;
    if (!isWhole && !isGone()) this.#ledger.violations.push(`a running service did not answer ${problem}`);
    if (!isRight) {
      this.#ledger.violations.push(`${problem} was answered with ${answered.map(({ text }) => text).join(" and ")}`);
    } else if (answered.length > 0) this.#ledger.acknowledge(pet, answered.flatMap(shownIn));
    return isRight && isWhole && answered.every(({ text }) => text !== undefined);
  }
}

function shownIn({ status, text = "" }: ClientResponse): (ShownAnimal | ShownOrder)[] {
  return status < 300 && text !== "" ? [readExactly(text) as ShownAnimal | ShownOrder] : [];
}

function movesOf({ name, id, orderIds, stock }: TrackedPet, random: Random): Move[] {
  const { animal, orders } = stock;
  if (!animal || id === undefined) {
    const added: SentAnimal = { name, categoryId: random.int64(), status: "available" };
    return [
      {
        method: "POST",
        path: "/pets",
        body: createBody(added),
        expectedStatuses: [201],
        wanted: { ...stock, animal: added },
      },
    ];
  }
  const path = `/pets/${id}`;
  const update = (change: Partial<SentAnimal>): Move => {
    const categoryId = random.int64(); // two fields at once, where there is a status
    const status = change.status === undefined ? "" : `,"status":"${change.status}"`;
    const body = `{"categoryId":${categoryId}${status}}`;
    return {
      method: "PATCH",
      path,
      body,
      expectedStatuses: [200],
      wanted: { animal: { ...animal, categoryId, ...change }, orders },
    };
  };
  const order = (act: string, status: string, becomes: string): Move => ({
    method: "POST",
    path: `/store/orders/${orderIds.at(-1)}/${act}`,
    expectedStatuses: [200],
    wanted: { animal: { ...animal, status }, orders: [...orders.slice(0, -1), becomes] },
  });
  if (orders.at(-1) === "placed") {
    return [
      order("confirm", "sold", "confirmed"),
      order("cancel", "available", "cancelled"),
      update({}),
      { method: "DELETE", path, expectedStatuses: [409], wanted: stock },
    ];
  }
  const remove: Move = { method: "DELETE", path, expectedStatuses: [204], wanted: { animal: undefined, orders } };
  if (animal.status === "available") {
    // Twice at once: only one can succeed.
    const place: Move = {
      method: "POST",
      path: "/store/orders",
      body: `{"petId":${id}}`,
      expectedStatuses: [201, 409],
      wanted: { animal: { ...animal, status: "pending" }, orders: [...orders, "placed"] },
    };
    return [place, place, place, update({ status: "pending" }), update({ status: "sold" }), remove];
  }
  if (animal.status === "pending") return [update({ status: "available" }), update({ status: "sold" }), remove];
  return orders.at(-1) === "confirmed"
    ? [order("return", "available", "returned"), update({}), remove]
    : [update({}), remove];
}
