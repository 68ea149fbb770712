import { isDeepStrictEqual } from "node:util";

/** A resource or a part of it, with its numbers as the digits that stood in the text. */
export type Fields = Readonly<Record<string, unknown>>;

/** An event as the interface shows it, as far as it is looked at. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: { readonly id: string };
  readonly data?: Fields;
  readonly previous?: Fields;
}

/**
 * Rebuilds a shop from its log. The result must equal the stored shop. The log has no gap, reports nothing twice, and
 * gives for each change the values before it.
 */
export class Replay {
  readonly violations: string[] = [];
  readonly #resources: Readonly<Record<string, Map<string, Fields>>> = {
    pet: new Map(),
    category: new Map(),
    order: new Map(),
  };
  #last = 0n;

  add(event: LoggedEvent): void {
    const { id, type, subject, data, previous } = event;
    if (BigInt(id) !== ++this.#last) this.violations.push(`event ${id} stands in the place of ${this.#last}`);
    if (type === "pets.reassigned") return this.#reassign(data ?? {});
    const resources = this.#resources[type.slice(0, type.indexOf("."))];
    if (!resources) return; // keys are no part of what a shop holds
    const known = resources.get(subject.id);
    const before = data === undefined ? previous : previous && patched(data, previous);
    if (!isDeepStrictEqual(before, known))
      this.violations.push(`${JSON.stringify(event)} follows on ${JSON.stringify(known)}`);
    if (data === undefined) resources.delete(subject.id);
    else resources.set(subject.id, data);
  }

  /** The resources of a kind that there are, by ascending id. */
  all(kind: "pet" | "category" | "order"): Fields[] {
    const resources = [...(this.#resources[kind]?.entries() ?? [])];
    return resources.toSorted(([one], [other]) => Number(BigInt(one) - BigInt(other))).map(([, resource]) => resource);
  }

  /** How many events there are. */
  get length(): number {
    return Number(this.#last);
  }

  #reassign({ from, to, animals, firstPetId: first, lastPetId: last }: Fields): void {
    const pets = this.#resources["pet"] as Map<string, Fields>;
    const isMoved = (id: string) => BigInt(id) >= BigInt(String(first)) && BigInt(id) <= BigInt(String(last));
    const moved = [...pets].filter(([id, pet]) => pet["categoryId"] === from && isMoved(id));
    for (const [id, pet] of moved) pets.set(id, { ...pet, categoryId: to });
    if (moved.length !== Number(animals)) this.violations.push(`${moved.length} animals moved, not ${String(animals)}`);
  }
}

/** What a JSON Merge Patch (RFC 7396) makes of a resource. */
function patched(resource: Fields, patch: Fields): Fields {
  const fields = new Map(Object.entries(resource));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else if (isFields(value))
      fields.set(name, patched(isFields(fields.get(name)) ? (fields.get(name) as Fields) : {}, value));
    else fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Row {
  readonly id: string;
  readonly type: string;
  readonly subject_id: string;
  readonly data: string | null;
  readonly previous: string | null;
}

/**
 * The differences between the log of a shop and its animals, in a store that `rows` reads. `parse` reads JSON with its
 * numbers as digits.
 */
export async function logViolations(
  shop: number | bigint,
  rows: (sql: string) => readonly unknown[] | Promise<readonly unknown[]>,
  parse: (text: string) => unknown,
): Promise<string[]> {
  const replay = new Replay();
  const logged = (await rows(`
    SELECT CAST(id AS TEXT) AS id, type, COALESCE(subject, CAST(under AS TEXT)) AS subject_id, data, previous
    FROM events WHERE shop = ${shop} ORDER BY events.id
  `)) as readonly Row[];
  const fields = (text: string | null) => (text === null ? undefined : (parse(text) as Fields));
  for (const { id, type, subject_id: subjectId, data, previous } of logged) {
    const [after, before] = [fields(data), fields(previous)];
    replay.add({
      id,
      type,
      subject: { id: subjectId },
      ...(after && { data: after }),
      ...(before && { previous: before }),
    });
  }
  const animals = (await rows(`
    SELECT CAST(pets.id AS TEXT) AS id, name, CAST(category_id AS TEXT) AS "categoryId", status,
      CAST(amount AS TEXT) AS amount, currency, reference, pairs AS metadata
    FROM pets LEFT JOIN metadata ON metadata.shop = pets.shop AND kind = 'pet' AND metadata.id = pets.id
    WHERE pets.shop = ${shop} ORDER BY pets.id
  `)) as readonly (Fields & Readonly<Record<"metadata" | "amount" | "currency", string | null>>)[];
  const told = replay.all("pet");
  const wrong = animals
    .map(({ metadata, amount, currency, ...animal }) =>
      patched({}, { ...animal, price: amount && { amount, currency }, metadata: metadata && parse(metadata) }),
    )
    .filter((animal, index) => !isDeepStrictEqual(animal, told[index]))
    .map((animal) => `the log does not tell of ${JSON.stringify(animal)}`);
  const count = told.length === animals.length ? [] : [`the log reports ${told.length} of ${animals.length} animals`];
  return [...replay.violations, ...count, ...wrong];
}
