import { type Arbitrary, constantFrom, dictionary, integer, nat, oneof, record } from "fast-check";

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const DAY = 24 * 60 * MINUTE;
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
  reference?: string;
  price?: Price;
  status: "placed" | "confirmed" | "cancelled" | "expired" | "returned";
  readonly placedAt: string;
  expiresAt: string;
  confirmedAt?: string;
  seller?: string;
  confirmedBy?: Seller;
  petName?: string;
  categoryId?: number;
  cancelledAt?: string;
  returnedAt?: string;
  metadata?: Metadata;
}

interface Price {
  readonly amount: number;
  readonly currency: string;
}
type NewPrice = Pick<Price, "amount"> & Partial<Price>;
/** The key that confirms orders. */
interface Seller {
  readonly keyId: string;
  readonly name: string;
}

const figures = ["added", "sold", "markedSold", "expired", "returned"] as const;
type Figure = (typeof figures)[number];

/** Something that a client does. `petId` may name what does not exist, and so may `back`, the age of an order: 0 is the latest. */
export type Act =
  | { readonly kind: "add"; readonly status: Status | undefined; readonly metadata?: Metadata | undefined }
  | { readonly kind: "update"; readonly petId: number; readonly status: Status }
  | { readonly kind: "delete"; readonly petId: number }
  | {
      readonly kind: "place";
      readonly petId: number;
      readonly price?: NewPrice | null | undefined;
      readonly seller?: string | undefined;
      /** How far ahead the end of the reservation is, in milliseconds. */
      readonly ahead?: number | undefined;
      readonly confirm?: boolean | undefined;
      readonly metadata?: Metadata | undefined;
    }
  | {
      readonly kind: "confirm";
      readonly back: number;
      readonly price?: NewPrice | null | undefined;
      readonly seller?: string | undefined;
    }
  | {
      readonly kind: "correct";
      readonly back: number;
      readonly price?: NewPrice | null | undefined;
      readonly ahead?: number | undefined;
    }
  | { readonly kind: "cancel" | "return"; readonly back: number }
  | { readonly kind: "name order"; readonly back: number; readonly reference: string | null }
  | { readonly kind: "note on animal"; readonly petId: number; readonly metadata: MetadataPatch }
  | { readonly kind: "note on order"; readonly back: number; readonly metadata: MetadataPatch }
  | { readonly kind: "note on category"; readonly metadata: MetadataPatch }
  | { readonly kind: "settings"; readonly timeZone?: string; readonly currency?: string | null };

/** Something that happens around the service. */
export type Happening =
  | { readonly kind: "time passes"; readonly milliseconds: number }
  | { readonly kind: "fast-forward"; readonly seconds: number }
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
  #timeZone = "UTC";
  #currency: string | undefined;
  /** All that was ever counted, with its time in the log. */
  readonly #happened: { readonly what: Figure; readonly at: number }[] = [];
  /** How often something has happened on its latest day, a number of days since 1970. */
  readonly #counts = new Map<Figure, { readonly day: number; readonly times: number }>();
  /** When the reservations of orders end, by their ids, in Unix milliseconds. */
  readonly #due = new Map<number, number>();
  /** The time of the last change: the times of a shop never decrease, also where the clock is set back. */
  #time = 0;

  /** The key that makes the next change. */
  seller: Seller;

  constructor(now: () => number, seller: Seller) {
    this.#now = now;
    this.seller = seller;
  }

  get animals(): (Animal & { id: number })[] {
    return this.#animals.flatMap((animal, index) => (animal ? [{ id: index + 1, ...animal }] : []));
  }

  /** The figures that the shop must show, counted again. */
  get summary() {
    const now = this.#now();
    const today = this.#dayOf(now);
    let since = now - (now % QUARTER);
    while (this.#dayOf(since - QUARTER) === today) since -= QUARTER;
    const timesToday = (what: Figure) => {
      const { day, times } = this.#counts.get(what) ?? { day: today, times: 0 };
      return [what, day === today ? times : 0] as const;
    };
    const count = (status: Status | undefined) => this.animals.filter((animal) => animal.status === status).length;
    return {
      timeZone: this.#timeZone,
      currency: this.#currency,
      animals: {
        total: this.animals.length,
        available: count("available"),
        pending: count("pending"),
        sold: count("sold"),
        withoutStatus: count(undefined),
      },
      animalsAllowed: 10_000, // of a sandbox
      categories: this.animals.length > 0 ? [{ categoryId: 1, animals: this.animals.length }] : [],
      openOrders: this.orders.filter(({ status }) => status === "placed").length,
      today: { since: timeText(since), ...Object.fromEntries(figures.map(timesToday)) },
    };
  }

  /** What was sold and returned from one time to another, as the shop must add it up. */
  sales(since: number, until: number) {
    const isIn = (at: string | undefined) => at !== undefined && Date.parse(at) >= since && Date.parse(at) < until;
    const figuresOf = (isCounted: (at: string, order: Order) => boolean) => {
      const [sold, returned] = (["confirmedAt", "returnedAt"] as const).map((time) =>
        this.orders.filter((order) => isIn(order[time]) && isCounted(order[time] as string, order)),
      ) as [Order[], Order[]];
      const currencies = [...new Set([...sold, ...returned].flatMap(({ price: paid }) => paid?.currency ?? []))];
      const sum = (some: readonly Order[], currency: string) =>
        some.reduce((total, { price: paid }) => total + (paid?.currency === currency ? paid.amount : 0), 0);
      const amounts = currencies.toSorted().map((currency) => {
        const [plus, minus] = [sum(sold, currency), sum(returned, currency)];
        return { currency, sold: plus, returned: minus, net: plus - minus };
      });
      return { sold: sold.length, returned: returned.length, amounts };
    };
    const [firstDay, lastDay] = [this.#dayOf(since), this.#dayOf(until - 1)];
    const counted = this.orders.filter(({ confirmedAt, returnedAt }) => isIn(confirmedAt) || isIn(returnedAt));
    const sellers = [...new Set(counted.flatMap((order) => order.seller ?? []))];
    return {
      total: figuresOf(() => true),
      days: Array.from({ length: lastDay - firstDay + 1 }, (_, index) => ({
        date: timeText((firstDay + index) * DAY).slice(0, 10),
        ...figuresOf((at) => this.#dayOf(Date.parse(at)) === firstDay + index),
      })),
      sellers: sellers
        .map((name) =>
          Object.assign(
            { name },
            figuresOf((_, order) => order.seller === name),
          ),
        )
        .toSorted((one, other) => other.sold - one.sold || (one.name < other.name ? -1 : 1)),
    };
  }

  #happens(what: Figure): void {
    this.#happened.push({ what, at: this.#time });
    this.#count(what, this.#dayOf(this.#now()));
  }

  #count(what: Figure, day: number, more = 1): void {
    const old = this.#counts.get(what);
    if (old?.day === day + 1) return;
    this.#counts.set(what, { day, times: old?.day === day ? old.times + more : more });
  }

  /** The day of the shop's time zone, as a number of days since 1970. */
  #dayOf(time: number): number {
    return Date.parse(new Date(time).toLocaleDateString("en-CA", { timeZone: this.#timeZone })) / DAY;
  }

  #update({ timeZone, currency }: Act & { readonly kind: "settings" }): string {
    if (currency !== undefined) this.#currency = currency ?? undefined;
    if (timeZone === undefined || timeZone === this.#timeZone) return "200";
    this.#timeZone = timeZone;
    const today = this.#dayOf(this.#now());
    this.#counts.clear();
    for (const what of figures) this.#count(what, today, 0);
    for (const { what, at } of this.#happened) if (this.#dayOf(at) >= today) this.#count(what, today);
    return "200";
  }

  /** Does it, and gives the response: the status, and the code of an error. */
  act(act: Act): string {
    this.#time = Math.max(this.#time, this.#now());
    switch (act.kind) {
      case "add":
        this.#animals.push({ status: act.status, ...pairsOf(act.metadata) });
        this.#happens("added");
        return "201";
      case "update":
        return this.#setStatus(act.petId, act.status);
      case "settings":
        return this.#update(act);
      case "delete":
        return this.#delete(act.petId);
      case "place":
        return this.#place(act);
      case "note on animal":
        return note(this.#animals[act.petId - 1], act.metadata) ?? "404 pet_not_found";
      case "note on order":
        return note(this.orders[this.orderId(act) - 1], act.metadata) ?? "404 order_not_found";
      case "note on category":
        return note(this.category, act.metadata) ?? "404 category_not_found";
      case "name order":
        return this.#nameOrder(this.orders[this.orderId(act) - 1], act.reference);
      case "confirm":
        return this.#confirm(this.orderId(act), act);
      case "correct":
        return this.#correct(this.orders[this.orderId(act) - 1], act);
      default:
        return this.#close(act.kind, this.orderId(act));
    }
  }

  /** The id of the order that an act means. */
  orderId({ back }: { readonly back: number }): number {
    return this.orders.length - back;
  }

  /** All reservations are due this much earlier, and those that are due end. */
  fastForward(seconds: number): void {
    this.#time = Math.max(this.#time, this.#now());
    for (const [id, due] of this.#due) this.#due.set(id, due - seconds * 1000);
    this.expire();
  }

  /** The reservations that wait, as a sandbox shows them; undefined if there are none. */
  get waiting() {
    const open = this.orders.filter(({ status }) => status === "placed").map((order) => this.#dueOf(order));
    return open.length === 0
      ? undefined
      : { kind: "reservation", count: open.length, next: timeText(Math.min(...open)) };
  }

  /** What the background tasks do. */
  expire(): void {
    const now = this.#now();
    for (const order of this.orders) {
      if (order.status !== "placed" || now < this.#dueOf(order)) continue;
      this.#time = Math.max(this.#time, now);
      this.#end(order);
    }
  }

  #setStatus(petId: number, status: Status): string {
    const animal = this.#animals[petId - 1];
    if (!animal) return "404 pet_not_found";
    this.#endIfOver(petId);
    if (status === animal.status) return "200";
    if (this.#openOrder(petId)) return "409 pet_has_open_order";
    if (this.orders.some((order) => order.petId === petId && order.status === "confirmed")) {
      return "409 invalid_transition";
    }
    animal.status = status;
    if (status === "sold") this.#happens("markedSold");
    return "200";
  }

  #delete(petId: number): string {
    if (!this.#animals[petId - 1]) return "404 pet_not_found";
    this.#endIfOver(petId);
    if (this.#openOrder(petId)) return "409 pet_has_open_order";
    this.#animals[petId - 1] = undefined;
    return "204";
  }

  #nameOrder(order: Order | undefined, reference: string | null): string {
    if (!order) return "404 order_not_found";
    if (reference === null) delete order.reference;
    else order.reference = reference;
    return "200";
  }

  #place({ petId, price: sent, seller, ahead, confirm, metadata }: Act & { readonly kind: "place" }): string {
    const price = this.#complete(sent);
    if (price === "no currency" || (ahead !== undefined && (confirm || !isAllowed(ahead))))
      return "400 invalid_request";
    const animal = this.#animals[petId - 1];
    if (!animal) return "422 ordered_pet_not_found";
    this.#endIfOver(petId);
    if (animal.status !== "available") return "409 pet_not_available";
    animal.status = "pending";
    const due = this.#now() + (ahead ?? RESERVATION * MINUTE);
    this.#due.set(this.orders.length + 1, due);
    this.orders.push({
      id: this.orders.length + 1,
      petId,
      ...(price && { price }),
      status: "placed",
      ...(seller !== undefined && { seller }),
      placedAt: timeText(this.#now()),
      expiresAt: timeText(due),
      ...pairsOf(metadata),
    });
    if (confirm) this.#confirm(this.orders.length, {});
    return "201";
  }

  /** The price that was sent, with its currency. */
  #complete(sent: NewPrice | null | undefined, replaced?: Price): Price | undefined | "no currency" {
    if (!sent) return undefined;
    const currency = sent.currency ?? replaced?.currency ?? this.#currency;
    return currency === undefined ? "no currency" : { amount: sent.amount, currency };
  }

  #correct(order: Order | undefined, { price: sent, ahead }: Act & { readonly kind: "correct" }): string {
    if (!order) return "404 order_not_found";
    const price = this.#complete(sent, order.price);
    if (price === "no currency" || (ahead !== undefined && !isAllowed(ahead))) return "400 invalid_request";
    const due = this.#now() + (ahead ?? 0);
    if (ahead !== undefined && timeText(due) !== order.expiresAt) {
      if (order.status === "placed" && this.#isOver(order)) this.#end(order);
      if (order.status !== "placed") return "409 order_not_open";
      order.expiresAt = timeText(due);
      this.#due.set(order.id, due);
    }
    if (sent !== undefined) setPrice(order, price);
    return "200";
  }

  #confirm(
    orderId: number,
    { price: sent, seller }: Omit<Act & { readonly kind: "confirm" }, "back" | "kind">,
  ): string {
    const price = this.#complete(sent);
    if (price === "no currency") return "400 invalid_request";
    const answer = this.#close("confirm", orderId);
    const order = this.orders[orderId - 1];
    if (answer !== "200" || !order) return answer;
    if (sent !== undefined) setPrice(order, price);
    order.seller = seller ?? order.seller ?? this.seller.name;
    return answer;
  }

  #close(how: "confirm" | "cancel" | "return", orderId: number): string {
    const order = this.orders[orderId - 1];
    if (!order) return "404 order_not_found";
    const animal = this.#animals[order.petId - 1];
    if (how === "return") {
      if (order.status !== "confirmed") return "409 order_not_confirmed";
      if (!animal) return "409 pet_deleted";
      Object.assign(order, { status: "returned", returnedAt: timeText(this.#now()) });
      this.#happens("returned");
      animal.status = "available";
      return "200";
    }
    if (order.status === "placed" && this.#isOver(order)) this.#end(order);
    if (order.status !== "placed" || !animal) return "409 order_not_open";
    const isSale = how === "confirm";
    const { id: categoryId } = this.category;
    const sale = { confirmedBy: this.seller, petName: "Rex", categoryId };
    Object.assign(order, isSale ? { status: "confirmed", ...sale } : { status: "cancelled" });
    order[isSale ? "confirmedAt" : "cancelledAt"] = timeText(this.#now());
    animal.status = isSale ? "sold" : "available";
    if (isSale) this.#happens("sold");
    return "200";
  }

  #endIfOver(petId: number): void {
    const open = this.#openOrder(petId);
    if (open && this.#isOver(open)) this.#end(open);
  }

  #end(order: Order): void {
    order.status = "expired";
    order.expiresAt = timeText(Math.min(Date.parse(order.expiresAt), this.#now()));
    this.#happens("expired");
    const animal = this.#animals[order.petId - 1];
    if (animal) animal.status = "available";
  }

  #openOrder(petId: number): Order | undefined {
    return this.orders.find((order) => order.petId === petId && order.status === "placed");
  }

  #isOver(order: Order): boolean {
    return this.#now() >= this.#dueOf(order);
  }

  #dueOf({ id }: Order): number {
    return this.#due.get(id) as number;
  }
}

/** True if a reservation may end so far ahead, in milliseconds. */
function isAllowed(ahead: number): boolean {
  return ahead > 0 && ahead <= 90 * DAY;
}

function setPrice(order: Order, price: Price | undefined): void {
  if (price) order.price = price;
  else delete order.price;
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

const price = oneof(
  constantFrom(undefined, null),
  record(
    { amount: integer({ min: 0, max: 3 }), currency: constantFrom("EUR", "USD") },
    { requiredKeys: ["amount"], noNullPrototype: true },
  ),
);
const seller = constantFrom(undefined, "Ann", "Ben");
const ahead = oneof(
  constantFrom(undefined),
  integer({ min: -1, max: 3 * RESERVATION * MINUTE }),
  constantFrom(0, 1, 90 * DAY, 90 * DAY + 1),
);
const confirm = constantFrom(undefined, false, true);
/** Where summer time ends while the test runs, and where it does so at midnight; the first and the last days of the world. */
const timeZone = constantFrom("UTC", "Europe/Berlin", "Asia/Beirut", "Pacific/Kiritimati", "Pacific/Pago_Pago");

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
  {
    weight: 8,
    arbitrary: record({ kind: constantFrom("place"), petId, price, seller, ahead, confirm, metadata: newPairs }),
  },
  { weight: 3, arbitrary: record({ kind: constantFrom("confirm"), back, price, seller }) },
  {
    weight: 3,
    arbitrary: record(
      { kind: constantFrom("correct"), back, price, ahead },
      { requiredKeys: ["kind", "back"], noNullPrototype: true },
    ),
  },
  { weight: 4, arbitrary: record({ kind: constantFrom("cancel", "return"), back }) },
  {
    weight: 1,
    arbitrary: record({ kind: constantFrom("name order"), back, reference: constantFrom("7", "constructor", null) }),
  },
  { weight: 2, arbitrary: record({ kind: constantFrom("note on animal"), petId, metadata: patch }) },
  { weight: 2, arbitrary: record({ kind: constantFrom("note on order"), back, metadata: patch }) },
  { weight: 1, arbitrary: record({ kind: constantFrom("note on category"), metadata: patch }) },
  {
    weight: 1,
    arbitrary: record(
      { kind: constantFrom("settings"), timeZone, currency: constantFrom("EUR", "JPY", null) },
      { requiredKeys: ["kind"], noNullPrototype: true },
    ),
  },
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
  {
    weight: 2,
    arbitrary: record({
      kind: constantFrom("fast-forward"),
      seconds: oneof(
        integer({ min: 1, max: 2 * RESERVATION * 60 }),
        constantFrom(RESERVATION * 60 - 1, RESERVATION * 60),
      ),
    }),
  },
  { weight: 3, arbitrary: record({ kind: constantFrom("background tasks") }) },
  { weight: 1, arbitrary: record({ kind: constantFrom("restart") }) },
);

/** What may come next, at any time. */
export const arbitraryEvent: Arbitrary<Act | Happening> = oneof(
  { weight: 4, arbitrary: arbitraryAct },
  { weight: 1, arbitrary: arbitraryHappening },
);
