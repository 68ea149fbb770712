import { type Arbitrary, constantFrom, dictionary, integer, nat, oneof, record } from "fast-check";

const MINUTE = 60_000;
/** How long a reservation lasts in the model, in minutes. */
export const RESERVATION = 15;

type Status = "available" | "pending" | "sold";
/** Pairs, and a change of them: null removes a pair, or all. */
type Metadata = Readonly<Record<string, string>>;
type MetadataPatch = Readonly<Record<string, string | null>> | null;

interface Animal {
  status: Status | undefined;
  metadata?: Metadata;
}
interface Order {
  readonly id: number;
  readonly petId: number;
  status: "placed" | "confirmed" | "cancelled" | "expired" | "returned";
  readonly placedAt: string;
  readonly expiresAt: string;
  confirmedAt?: string;
  cancelledAt?: string;
  returnedAt?: string;
  metadata?: Metadata;
}

type DayFigures = Readonly<Record<"added" | "sold" | "expired" | "returned", number>>;
const none: DayFigures = { added: 0, sold: 0, expired: 0, returned: 0 };

/** Something that a client does. `petId` may name what does not exist, and so may `back`, the age of an order: 0 is the latest. */
export type Act =
  | { readonly kind: "add"; readonly status: Status | undefined; readonly metadata?: Metadata | undefined }
  | { readonly kind: "update"; readonly petId: number; readonly status: Status }
  | { readonly kind: "delete"; readonly petId: number }
  | { readonly kind: "place"; readonly petId: number; readonly metadata?: Metadata | undefined }
  | { readonly kind: "confirm" | "cancel" | "return"; readonly back: number }
  | { readonly kind: "note on animal"; readonly petId: number; readonly metadata: MetadataPatch }
  | { readonly kind: "note on order"; readonly back: number; readonly metadata: MetadataPatch }
  | { readonly kind: "note on category"; readonly metadata: MetadataPatch };

/** Something that happens around the service. */
export type Happening =
  | { readonly kind: "time passes"; readonly milliseconds: number }
  | { readonly kind: "clock is set"; readonly milliseconds: number }
  | { readonly kind: "background tasks" }
  | { readonly kind: "restart" };

/**
 * What a shop of animals and orders, and one category, must answer, and what it must hold: simple enough to be seen
 * to be right. `now` tells unix milliseconds.
 */
export class ShopModel {
  /** The animals by their ids, from 1 on; undefined for one that was deleted. */
  readonly #animals: (Animal | undefined)[] = [];
  /** The category that all animals have. */
  readonly category: { readonly id: number; readonly name: string; metadata?: Metadata } = { id: 1, name: "Dogs" };
  readonly orders: Order[] = [];
  readonly #now: () => number;
  /** What has happened on each day, by its name. */
  readonly #days = new Map<string, DayFigures>();
  /** The time of the last change: the times of a shop never decrease, also where the clock is set back. */
  #time = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get animals(): (Animal & { id: number })[] {
    return this.#animals.flatMap((animal, index) => (animal ? [{ id: index + 1, ...animal }] : []));
  }

  /** The figures that the shop must show, counted again. */
  get summary() {
    const now = timeText(Math.max(this.#time, this.#now()));
    const count = (status: Status | undefined) => this.animals.filter((animal) => animal.status === status).length;
    return {
      animals: {
        total: this.animals.length,
        available: count("available"),
        pending: count("pending"),
        sold: count("sold"),
        withoutStatus: count(undefined),
      },
      categories: this.animals.length > 0 ? [{ categoryId: 1, animals: this.animals.length }] : [],
      openOrders: this.orders.filter(({ status }) => status === "placed").length,
      today: this.#days.get(now.slice(0, 10)) ?? none,
    };
  }

  #happened(what: keyof DayFigures): void {
    const day = timeText(this.#time).slice(0, 10);
    const figures = this.#days.get(day) ?? none;
    this.#days.set(day, { ...figures, [what]: figures[what] + 1 });
  }

  /** Does it, and gives the response: the status, and the code of an error. */
  act(act: Act): string {
    this.#time = Math.max(this.#time, this.#now());
    switch (act.kind) {
      case "add":
        this.#animals.push({ status: act.status, ...pairsOf(act.metadata) });
        this.#happened("added");
        return "201";
      case "update":
        return this.#update(act.petId, act.status);
      case "delete":
        return this.#delete(act.petId);
      case "place":
        return this.#place(act.petId, act.metadata);
      case "note on animal":
        return note(this.#animals[act.petId - 1], act.metadata) ?? "404 pet_not_found";
      case "note on order":
        return note(this.orders[this.orderId(act) - 1], act.metadata) ?? "404 order_not_found";
      case "note on category":
        return note(this.category, act.metadata) ?? "404 category_not_found";
      default:
        return this.#close(act.kind, this.orderId(act));
    }
  }

  /** The id of the order that an act means. */
  orderId({ back }: { readonly back: number }): number {
    return this.orders.length - back;
  }

  /** What the background tasks do. */
  expire(): void {
    const now = this.#now();
    for (const order of this.orders) {
      if (order.status !== "placed" || now < Date.parse(order.expiresAt)) continue;
      this.#time = Math.max(this.#time, now);
      this.#end(order);
    }
  }

  #update(petId: number, status: Status): string {
    const animal = this.#animals[petId - 1];
    if (!animal) return "404 pet_not_found";
    this.#endIfOver(petId);
    if (status === animal.status) return "200";
    if (this.#openOrder(petId)) return "409 pet_has_open_order";
    if (this.orders.some((order) => order.petId === petId && order.status === "confirmed")) {
      return "409 invalid_transition";
    }
    animal.status = status;
    if (status === "sold") this.#happened("sold");
    return "200";
  }

  #delete(petId: number): string {
    if (!this.#animals[petId - 1]) return "404 pet_not_found";
    this.#endIfOver(petId);
    if (this.#openOrder(petId)) return "409 pet_has_open_order";
    this.#animals[petId - 1] = undefined;
    return "204";
  }

  #place(petId: number, metadata: Metadata | undefined): string {
    const animal = this.#animals[petId - 1];
    if (!animal) return "409 ordered_pet_not_found";
    this.#endIfOver(petId);
    if (animal.status !== "available") return "409 pet_not_available";
    animal.status = "pending";
    const expiresAt = timeText(this.#time + RESERVATION * MINUTE);
    this.orders.push({
      id: this.orders.length + 1,
      petId,
      status: "placed",
      placedAt: timeText(this.#time),
      expiresAt,
      ...pairsOf(metadata),
    });
    return "201";
  }

  #close(how: "confirm" | "cancel" | "return", orderId: number): string {
    const order = this.orders[orderId - 1];
    if (!order) return "404 order_not_found";
    const animal = this.#animals[order.petId - 1];
    if (how === "return") {
      if (order.status !== "confirmed") return "409 order_not_confirmed";
      if (!animal) return "409 ordered_pet_not_found";
      Object.assign(order, { status: "returned", returnedAt: timeText(this.#time) });
      this.#happened("returned");
      animal.status = "available";
      return "200";
    }
    if (order.status === "placed" && this.#isOver(order)) this.#end(order);
    if (order.status !== "placed" || !animal) return "409 order_not_open";
    const isSale = how === "confirm";
    Object.assign(order, isSale ? { status: "confirmed" } : { status: "cancelled" });
    order[isSale ? "confirmedAt" : "cancelledAt"] = timeText(this.#time);
    animal.status = isSale ? "sold" : "available";
    if (isSale) this.#happened("sold");
    return "200";
  }

  #endIfOver(petId: number): void {
    const open = this.#openOrder(petId);
    if (open && this.#isOver(open)) this.#end(open);
  }

  #end(order: Order): void {
    order.status = "expired";
    this.#happened("expired");
    const animal = this.#animals[order.petId - 1];
    if (animal) animal.status = "available";
  }

  #openOrder(petId: number): Order | undefined {
    return this.orders.find((order) => order.petId === petId && order.status === "placed");
  }

  #isOver({ expiresAt }: Order): boolean {
    return this.#time >= Date.parse(expiresAt);
  }
}

/** Changes the pairs of a resource; undefined if there is none. */
function note(resource: { metadata?: Metadata } | undefined, patch: MetadataPatch): string | undefined {
  if (!resource) return undefined;
  const pairs = new Map(patch === null ? [] : Object.entries(resource.metadata ?? {}));
  for (const [key, text] of Object.entries(patch ?? {})) {
    if (text === null) pairs.delete(key);
    else pairs.set(key, text);
  }
  delete resource.metadata;
  Object.assign(resource, pairsOf(Object.fromEntries(pairs)));
  return "200";
}

/** The field `metadata`, which is absent where there are no pairs. */
function pairsOf(metadata: Metadata = {}): { metadata?: Metadata } {
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

const status = constantFrom<Status>("available", "available", "pending", "sold");
// Few animals, so that many acts meet on one.
const petId = integer({ min: 1, max: 4 });
const back = oneof(nat(2), nat(8));
const key = constantFrom("a", "b", "constructor");
const text = constantFrom("", "1", "2");
const pairs = dictionary(key, text, { maxKeys: 3, noNullPrototype: true });
const newPairs = oneof(constantFrom(undefined), pairs);
const patch = oneof(
  { weight: 4, arbitrary: dictionary(key, oneof(text, constantFrom(null)), { maxKeys: 3, noNullPrototype: true }) },
  { weight: 1, arbitrary: constantFrom(null) },
);

const arbitraryAct: Arbitrary<Act> = oneof(
  {
    weight: 3,
    arbitrary: record({
      kind: constantFrom("add"),
      status: oneof(status, constantFrom(undefined)),
      metadata: newPairs,
    }),
  },
  { weight: 2, arbitrary: record({ kind: constantFrom("update"), petId, status }) },
  { weight: 1, arbitrary: record({ kind: constantFrom("delete"), petId }) },
  { weight: 8, arbitrary: record({ kind: constantFrom("place"), petId, metadata: newPairs }) },
  { weight: 6, arbitrary: record({ kind: constantFrom("confirm", "cancel", "return"), back }) },
  { weight: 2, arbitrary: record({ kind: constantFrom("note on animal"), petId, metadata: patch }) },
  { weight: 2, arbitrary: record({ kind: constantFrom("note on order"), back, metadata: patch }) },
  { weight: 1, arbitrary: record({ kind: constantFrom("note on category"), metadata: patch }) },
);

const arbitraryHappening: Arbitrary<Happening> = oneof(
  {
    weight: 4,
    arbitrary: record({
      kind: constantFrom("time passes"),
      milliseconds: oneof(
        integer({ min: 1, max: 2 * RESERVATION * MINUTE }),
        constantFrom(1, RESERVATION * MINUTE - 1, RESERVATION * MINUTE, 12 * 60 * MINUTE),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: record({ kind: constantFrom("clock is set"), milliseconds: integer({ min: -MINUTE, max: MINUTE }) }),
  },
  { weight: 3, arbitrary: record({ kind: constantFrom("background tasks") }) },
  { weight: 1, arbitrary: record({ kind: constantFrom("restart") }) },
);

/** What may come next, at any time. */
export const arbitraryEvent: Arbitrary<Act | Happening> = oneof(
  { weight: 4, arbitrary: arbitraryAct },
  { weight: 1, arbitrary: arbitraryHappening },
);
