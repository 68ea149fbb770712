import { Type } from "typebox";
import { defineError, failure } from "../../src/contract/errors.ts";
import { bind, type Handlers } from "../../src/contract/handler.ts";
import { defineOperation, type Tag } from "../../src/contract/operation.ts";
import { pagesOf } from "../../src/contract/paging.ts";
import { Int64, Text } from "../../src/contract/schemas.ts";
import { defineDomain } from "../../src/domains/domain.ts";
import { setting } from "../../src/settings/setting.ts";
import { creating } from "../../src/storage/applied-migrations.ts";
import { pageOf } from "../../src/storage/pages.ts";
import { change, query, type Row } from "../../src/storage/statement.ts";
import { integer, table, text } from "../../src/storage/table.ts";
import { all, first } from "../../src/storage/transaction.ts";
import type { Command } from "../../src/terminal/command.ts";

/** The migration that creates the table of the domain. */
export const toyTable = creating("toys", [
  table("toys", { id: integer, name: text }, { key: ["id"], isNumbered: true }),
]);

const tag: Tag = { name: "toys", description: "What animals play with.", stability: "experimental" };
const toyNotFound = defineError({ code: "toy_not_found", status: 404, meaning: "No toy has this identifier." });
const toyId = Int64({ description: "The identifier of the toy.", examples: [1n] });
const name = Text({ description: "The toy's name.", minLength: 1, maxLength: 255, examples: ["Ball"] });
const Toy = Type.Object({ id: toyId, name }, { title: "Toy", description: "A toy." });
const NewToy = Type.Object({ name }, { title: "NewToy", description: "A toy to add.", additionalProperties: false });
const Toys = Type.Array(Toy, { title: "Toys", description: "Toys, by ascending `id`." });
const ball = { id: 1n, name: "Ball" };

const listToys = defineOperation({
  tag,
  name: "listToys",
  method: "GET",
  path: "/toys",
  summary: "List all toys",
  description: "Returns toys by ascending `id`, page by page.",
  ...pagesOf({ schema: Toys, what: "toys", position: toyId, examples: { "A toy": [ball] } }),
});
const createToy = defineOperation({
  tag,
  name: "createToy",
  method: "POST",
  path: "/toys",
  summary: "Add a toy",
  description: "Adds a toy and returns it.",
  body: { schema: NewToy, examples: { "A ball": { name: "Ball" } } },
  emits: [],
  response: {
    status: 201,
    description: "The toy as it was added.",
    schema: Toy,
    examples: { "A ball": ball },
    location: "/toys/{id}",
    entityTag: true,
  },
});
const getToy = defineOperation({
  tag,
  name: "getToy",
  method: "GET",
  path: "/toys/{toyId}",
  summary: "Get a toy",
  description: "Returns the toy with the given identifier.",
  params: { schema: Type.Object({ toyId }), invalidError: toyNotFound },
  response: { status: 200, description: "The toy.", schema: Toy, examples: { "A ball": ball } },
});
const operations = [listToys, createToy, getToy] as const;

interface ToyRow extends Row {
  id: bigint;
  name: string;
}
interface CountRow extends Row {
  toys: bigint;
}
const byId = query<[id: bigint], ToyRow>("SELECT id, name FROM toys WHERE id = $1");
const rowsAfter = query<[id: bigint, limit: number], ToyRow>(
  "SELECT id, name FROM toys WHERE id > $1 ORDER BY id LIMIT $2",
);
const insert = change<[name: string], ToyRow>("INSERT INTO toys (name) VALUES ($1) RETURNING id, name");
const discardOld = change<[kept: number], ToyRow>(
  "DELETE FROM toys WHERE id <= (SELECT max(id) FROM toys) - CAST($1 AS BIGINT) RETURNING id, name",
);
const count = query<[], CountRow>("SELECT count(*) AS toys FROM toys");

const settings = {
  PETSTORE_TOYS_KEPT: setting<number>({
    meaning: "How many toys are kept. Older ones are discarded.",
    fallback: "1000",
    expects: "a whole number of at least 1",
    parse: (given) => (/^[1-9][0-9]{0,8}$/.test(given) ? Number(given) : undefined),
  }),
};

const countToys: Command = {
  name: "toys count",
  summary: "Tell how many toys there are.",
  example: "toys count",
  run: async (_given, { store, settings: read }) => {
    const storage = await store.open();
    try {
      const toys = Number((await storage.read(first(count)))?.toys);
      return { json: { toys }, text: `${toys} toys, of at most ${read(settings).PETSTORE_TOYS_KEPT}.` };
    } finally {
      await storage.close();
    }
  },
};

const handlers: Handlers<typeof operations> = {
  *listToys({ query: { limit }, after = 0n }) {
    return pageOf(
      yield* all(rowsAfter, after, limit + 1),
      limit,
      (toy) => toy,
      ({ id }) => id,
    );
  },
  *createToy({ body }) {
    return { body: (yield* first(insert, body.name)) as ToyRow };
  },
  *getToy({ params: { toyId: id } }) {
    const toy = yield* first(byId, id);
    return toy ? { body: toy } : failure(toyNotFound, `No toy is ${id}.`);
  },
};

/** A domain with everything that a domain may have, in one file: see `test/contract/new-domain.both.test.ts`. */
export const toys = defineDomain<typeof settings>({
  name: "toys",
  operations,
  settings,
  commands: [countToys],
  open: ({ storage, metrics, repeat }, { PETSTORE_TOYS_KEPT }) => {
    let discarded = 0;
    metrics.counter("petstore_toys_discarded_total", "Toys that were discarded.", () => discarded);
    repeat({
      name: "discard_toys",
      by: "leader",
      run: async () => {
        const gone = await storage.write(() => discard(PETSTORE_TOYS_KEPT));
        discarded += gone;
      },
    });
    return bind(operations, handlers);
  },
});

function* discard(kept: number) {
  return (yield* all(discardOld, kept)).length;
}
