import type { TSchema } from "typebox";
import type { AgentTool, Operation } from "../../src/contract/operation.ts";
import type { BodyLimits } from "../../src/contract/requests.ts";
import { bodyLimits } from "../../src/contract/requests.ts";
import { UNCHECKED_ITEMS } from "../../src/contract/schemas.ts";
import { exactJson } from "../../src/contract/serialize.ts";
import { compileValidator } from "../../src/contract/validators.ts";
import { MOST_BYTES, MOST_PETS } from "../../src/domains/pets/several/several-pets.operations.ts";

/**
 * What fills a body: texts that JSON escapes, metadata of many pairs, as many items as possible, items with faults where
 * the handler checks them, or the deepest JSON that is parsed, which most operations then refuse.
 */
const styles = ["escapes", "pairs", "many", "faults", "deep"] as const;
type Style = Exclude<(typeof styles)[number], "deep">;

/** A request that costs as much as one of its operation can. `what` says in what. */
export interface CostlyRequest {
  readonly what: string;
  readonly method: string;
  /** Below the base address. */
  readonly path: string;
  readonly body: string | undefined;
}

/** Inputs with which a call of a tool costs as much as one can. */
export interface CostlyCall {
  readonly what: string;
  readonly given: Record<string, unknown>;
}

/** Sends a request as a test key with all scopes. */
// oxlint-disable-next-line typescript/no-explicit-any -- whoever asks knows the answer
export type Send = (method: string, path: string, body?: string) => Promise<{ status: number; json: any }>;

/** The keywords of an input schema that bound a value. */
interface Keywords {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | TSchema;
  readonly propertyNames?: TSchema;
  readonly examples?: readonly unknown[];
}

const LONG_TEXTS = [8, 500] as const; // a resource has 4,096 bytes of metadata
const MANY_PAIRS = [50, 75] as const;
/** How many reservations a fast-forward ends. */
const ENDING = 100;
/** Imports of 500 animals. */
const CROWD = 21;
/** How many animals with such texts an import can have. */
const AT_ONCE = 15;

/**
 * Makes the costliest requests that operations accept, from their schemas, in a shop that it fills with the largest
 * resources. What a schema cannot say, such as the id of an order that can be returned, it makes or is told below.
 */
export class CostlyShop {
  readonly #send: Send;
  /** Unix milliseconds. */
  readonly #now: number;
  #made = 0;

  /** Fills the shop: more of the largest animals and orders than a page has. Every second order is a sale. */
  static async fill(send: Send, now: number, operations: readonly Operation[], orders = 100): Promise<CostlyShop> {
    const named = (name: string) => operations.find((operation) => operation.name === name) as Operation;
    const [importPets, placeOrder] = [named("importPets"), named("placeStoreOrder")];
    const shop = new CostlyShop(send, now);
    for (let index = 0; index < 5; index++) await shop.#made1("/categories", { name: `Category ${index}` });
    for (const style of ["escapes", "pairs"] as const) {
      for (let part = 0; part < 6; part++) await shop.#sent("POST", importPets.path, shop.#body(importPets, style));
    }
    const petIds = await shop.#newPets(orders);
    for (const [order, petId] of petIds.entries()) {
      const given = JSON.parse(shop.#body(placeOrder, "escapes") ?? "{}");
      const rest = { petId, confirm: order % 2 === 0, expiresAt: undefined }; // it is not for both
      await shop.#made1(placeOrder.path, { ...given, ...rest });
    }
    return shop;
  }

  private constructor(send: Send, now: number) {
    this.#send = send;
    this.#now = now;
  }

  /** The costliest requests of an operation: with large pages, each filter alone, and large bodies of each style. */
  async *of(operation: Operation): AsyncGenerator<CostlyRequest> {
    const { method, name, query, body } = operation;
    const path = async () => this.#pathOf(operation);
    if (body) {
      const isUnchecked = Object.values((body.schema as Keywords).properties ?? {}).some(
        (one) => UNCHECKED_ITEMS in one,
      );
      for (const style of styles) {
        if (style === "faults" && !isUnchecked) continue;
        if (style === "deep") {
          yield { what: style, method, path: await path(), body: deepest(body) };
          continue;
        }
        const text = (await this.#bodies[name]?.()) ?? this.#body(operation, style, await this.#idsFor(operation));
        yield { what: style, method, path: await path(), body: text };
      }
      if (name === "importPets") yield { what: "updates", method, path: await path(), body: await this.#updates() };
      return;
    }
    const base = query?.properties["limit"] ? "limit=100" : "";
    const filters = Object.entries(query?.properties ?? {}).filter(([filter]) => !["limit", "cursor"].includes(filter));
    yield { what: base, method, path: `${await path()}${base && "?"}${base}`, body: undefined };
    for (const [filter, schema] of filters) {
      for (const value of await this.#valuesOf(filter, schema)) {
        const text = [base, `${filter}=${encodeURIComponent(value)}`].filter(Boolean).join("&");
        const crowded = filter === "moveTo" ? () => this.#crowdedCategory() : undefined;
        yield { what: filter, method, path: `${await this.#pathOf(operation, crowded)}?${text}`, body: undefined };
      }
    }
  }

  /** The costliest calls of a tool: the requests of its operation, as far as its inputs can say them. */
  async *ofTool({ operation, takes, needs = [] }: { readonly operation: Operation } & AgentTool) {
    for await (const { what, path, body } of this.of(operation)) {
      const [pathname = "", query = ""] = path.split("?");
      const pattern = new RegExp(operation.path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)"));
      const parts = { ...pattern.exec(pathname)?.groups, ...Object.fromEntries(new URLSearchParams(query)) };
      const sent: Record<string, unknown> = { ...JSON.parse(body ?? "{}"), ...parts };
      const inputs = takes.map((taken) => {
        const [input, from] = typeof taken === "string" ? [taken, taken] : taken;
        const [outer = "", inner] = from.split(".");
        return [input, inner ? (sent[outer] as Record<string, unknown> | undefined)?.[inner] : sent[outer]] as const;
      });
      const given = Object.fromEntries(inputs.filter(([, value]) => value !== undefined));
      if (needs.every((input) => input in given)) yield { what, given } satisfies CostlyCall;
    }
  }

  /** A category of which every tenth of more animals is than one transaction scans. */
  async #crowdedCategory(): Promise<string> {
    const id = await this.#made1("/categories", { name: `Category ${++this.#made}` });
    for (let part = 0; part < CROWD; part++)
      await this.#newPets(500, (index) => ({ categoryId: index % 10 === 0 ? Number(id) : 1 }));
    return id;
  }

  /** Bodies whose parts depend on each other. */
  readonly #bodies: Readonly<Record<string, () => Promise<string>>> = {
    redeliverWebhooks: async () => JSON.stringify({ from: 1 }),
    updateWebhookEndpoint: async () => JSON.stringify({ description: this.#text(255), paused: true, expiresAt: null }),
    createWebhookEndpoint: async () =>
      JSON.stringify({ url: `https://example.org/${"x".repeat(2000)}`, description: this.#text(255) }),
    resetSandbox: async () => JSON.stringify({ animals: "samples" }),
    fastForwardSandbox: async () => {
      for (const petId of await this.#newPets(ENDING)) await this.#made1("/store/orders", { petId });
      return JSON.stringify({ seconds: 3600 });
    },
  };

  /** What makes or finds a resource for a parameter of a path. */
  readonly #resources: Readonly<Record<string, () => Promise<string>>> = {
    petId: () => this.#newPet(),
    categoryId: async () => this.#made1("/categories", { name: `Category ${++this.#made}` }),
    orderId: async () => this.#made1("/store/orders", { petId: Number(await this.#newPet()) }),
    keyId: async () => this.#made1("/keys", { name: "costly", scopes: ["read"] }),
    endpointId: async () => {
      const { json } = await this.#send("GET", "/webhook-endpoints");
      if (json.length > 15) await this.#send("DELETE", `/webhook-endpoints/${json[0].id}`);
      return this.#made1("/webhook-endpoints", { url: "https://example.org/" });
    },
    eventId: async () => String((await this.#send("GET", "/events?sort=-id&limit=1")).json[0].id),
    requestId: async () => String((await this.#send("GET", "/requests?limit=1")).json[0]?.id ?? "none"),
    deliveryId: async () => "1",
  };

  async #pathOf({ name, method, path }: Operation, crowded?: () => Promise<string>): Promise<string> {
    let filled: string = path;
    for (const [place, parameter = ""] of path.matchAll(/\{(\w+)\}/g)) {
      const isLarge = method === "GET" && ["petId", "categoryId", "orderId"].includes(parameter);
      const make = crowded ?? (isLarge ? async () => "1" : this.#resources[parameter]);
      if (!make) throw new TypeError(`Say in costly-requests.ts which ${parameter} costs ${name} most.`);
      const id = await make();
      if (name === "returnStoreOrder") await this.#sent("POST", `/store/orders/${id}/confirm`, undefined);
      filled = filled.replace(place, id);
    }
    return filled;
  }

  /** Ids for a body that names resources. */
  async #idsFor({ name, body }: Operation): Promise<Readonly<Record<string, unknown>>> {
    const { properties: fields = {} }: Keywords = body?.schema ?? {};
    if (fields["petId"]) return { petId: Number(await this.#newPet()), confirm: undefined }; // with `expiresAt`
    if (fields["ids"] && name === "deletePets") return { ids: (await this.#changeable()).map(({ id }) => id) };
    return {};
  }

  /** Changes as many animals as one import can, all by a few bytes. */
  async #updates(): Promise<string> {
    const animals = (await this.#changeable()).map(({ reference }) => ({ name: "Tom", categoryId: 1, reference }));
    return JSON.stringify({ animals, onExisting: "update" });
  }

  /** As many animals as one request can delete or update, with as much metadata as they may have together. */
  async #changeable(): Promise<{ readonly id: number; readonly reference: string }[]> {
    const [pairs, length] = LONG_TEXTS;
    const metadata = Object.fromEntries(Array.from({ length: pairs }, (_, index) => [`k${index}`, '"'.repeat(length)]));
    let large = Math.floor(MOST_BYTES / JSON.stringify(metadata).length);
    const made: { id: number; reference: string }[] = [];
    while (made.length < MOST_PETS) {
      const count = Math.min(large || MOST_PETS - made.length, large ? AT_ONCE : MOST_PETS);
      const reference = (index: number) => `changeable ${this.#made + index}`;
      const ids = await this.#newPets(count, (index) => ({ reference: reference(index), ...(large && { metadata }) }));
      made.push(...ids.map((id, index) => ({ id, reference: reference(index) })));
      this.#made += count;
      large -= Math.min(large, count);
    }
    return made;
  }

  async #newPet(): Promise<string> {
    return String((await this.#newPets(1))[0]);
  }

  async #newPets(count: number, more: (index: number) => object = () => ({})): Promise<number[]> {
    const ids: number[] = [];
    for (let from = 0; from < count; from += 500) {
      const animals = Array.from({ length: Math.min(500, count - from) }, (_, index) => {
        return { name: "Rex", categoryId: 1, status: "available", ...more(index) };
      });
      const { animals: added } = await this.#sent("POST", "/pets/import", JSON.stringify({ animals }));
      ids.push(...added.map(({ id }: { readonly id: number }) => id));
    }
    return ids;
  }

  async #made1(path: string, body: object): Promise<string> {
    return String((await this.#sent("POST", path, JSON.stringify(body))).id);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the same
  async #sent(method: string, path: string, body: string | undefined): Promise<any> {
    const { status, json } = await this.#send(method, path, body);
    if (status >= 400) throw new TypeError(`${method} ${path} was refused: ${JSON.stringify(json).slice(0, 500)}`);
    return json;
  }

  /** The largest body of an operation within its limits. */
  #body({ body }: Operation, style: Style, known: Readonly<Record<string, unknown>> = {}): string | undefined {
    if (!body) return undefined;
    const limits = (body as { limits?: BodyLimits }).limits ?? bodyLimits;
    for (let share = 1; ; share *= 0.8) {
      const value = { ...(this.#value("", body.schema, style, share) as object), ...known };
      const text = exactJson(value);
      const escapes = text.length - text.replaceAll(/\\./g, " ").length;
      if (Buffer.byteLength(text) <= limits.bytes && valuesIn(value) <= limits.values && escapes <= limits.escapes)
        return text;
    }
  }

  /** The values of a filter: of a choice, all; of ids, those of large resources. */
  async #valuesOf(filter: string, schema: Keywords): Promise<string[]> {
    if (filter === "moveTo" || filter === "categoryId") return ["1"];
    const make = this.#resources[filter];
    if (make) return [await make()];
    if (filter === "after" || filter === "lastEventId") return ["0"];
    if (filter === "confirmedBy") return ["key_x"];
    if (filter === "timeZone") return ["Europe/Berlin"];
    if (schema.enum) return schema.enum.map(String);
    if (schema.format === "date-time") {
      const days = filter.toLowerCase().endsWith("since") ? -365 : 1;
      return [new Date(this.#now + days * 86_400_000).toISOString()];
    }
    const value = this.#value(filter, schema, "escapes", 1);
    return [Array.isArray(value) ? value.join(",") : typeof value === "string" ? value : exactJson(value)];
  }

  #value(name: string, schema: Keywords, style: Style, share: number): unknown {
    const { type, enum: values, format, items, properties, additionalProperties: others } = schema;
    if (values) return values.at(-1);
    const kind = [type].flat().find((one) => one !== "null");
    if (kind === "integer")
      return name === "categoryId" ? 1 : name === "id" ? 10_000 + ++this.#made : this.#integer(schema);
    if (kind === "boolean") return false;
    if (kind === "array") {
      const length = Math.max(1, Math.floor((schema.maxItems ?? 1) * share));
      const choices = (items as Keywords).enum;
      if (choices) return choices.slice(0, length);
      if (style === "faults" && UNCHECKED_ITEMS in schema)
        return Array.from({ length }, () => ({ name: "x".repeat(256), categoryId: "x", status: "y", color: "z" }));
      return Array.from({ length }, (_, index) =>
        (items as Keywords).type === "integer" ? index + 1 : this.#value("item", items as Keywords, style, share),
      );
    }
    if (kind === "object" && properties) {
      const fields = Object.entries(properties).filter(
        ([field]) => style !== "many" || name !== "item" || schema.required?.includes(field),
      );
      return Object.fromEntries(
        fields.map(([field, one]) => [field, this.#value(field, one as Keywords, style, share)]),
      );
    }
    if (kind === "object" && others) {
      const [pairs, length] = style === "escapes" ? LONG_TEXTS : MANY_PAIRS;
      return Object.fromEntries(Array.from({ length: pairs }, (_, index) => [`k${index}`, '"'.repeat(length)]));
    }
    if (format === "date-time") return new Date(this.#now + 3_600_000).toISOString();
    const long = this.#text(schema.maxLength ?? 1);
    return compileValidator(schema).Check(long) ? long : schema.examples?.[0];
  }

  #integer({ maximum = 100, examples }: Keywords): unknown {
    return examples?.[0] ?? Math.min(maximum, 100);
  }

  /** A unique text of quotes, which JSON escapes. */
  #text(length: number): string {
    return `${++this.#made}`.padEnd(length, '"').slice(0, length);
  }
}

/** A body with as many arrays within each other as it may have values: in a list whose items are checked later, or anywhere. */
function deepest({ schema, limits = bodyLimits }: NonNullable<Operation["body"]>): string {
  const fields = Object.entries((schema as Keywords).properties ?? {});
  const [list] = fields.find(([, one]) => UNCHECKED_ITEMS in one) ?? [];
  const depth = limits.values - 20; // the call of a tool has some more
  const arrays = "[".repeat(depth) + "]".repeat(depth);
  return list ? `{"${list}":[${arrays}],"onError":"skip"}` : `{"${fields[0]?.[0] ?? "x"}":${arrays}}`;
}

/** The number of values of all levels. */
function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, part) => sum + valuesIn(part), 1);
}

/** How many times as much as others an operation may do at once: these change up to 500 animals in one transaction. */
export const shareOf = (name: string): number => (["importPets", "deletePets"].includes(name) ? 4 : 1);

/** All operations, those last that replace the shop. */
export function costlyOperations(operations: readonly Operation[]): readonly Operation[] {
  return operations.toSorted(
    (one, other) => Number(one.name === "resetSandbox") - Number(other.name === "resetSandbox"),
  );
}

/** All tools, with their operations. */
export function costlyTools(operations: readonly Operation[]) {
  return costlyOperations(operations).flatMap((operation) =>
    Object.entries(operation.agentTools ?? {}).map(([name, tool]) => Object.assign({ name, operation }, tool)),
  );
}
