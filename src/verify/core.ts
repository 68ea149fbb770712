import type { TObject } from "typebox";
import { Check as fits } from "typebox/schema";
import { ErrorBody } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import { INT64_MAX } from "../contract/schemas.ts";
import { type Came, type Check, check, help, must, mustHave, Skipped, timeOf, type Way } from "./check.ts";

/** A field of the contract, or a parameter. */
type Field = Readonly<{ type: string; enum: readonly string[]; minimum: number; maximum: number; default: number }>;

/** Beyond 2^53, where programs that read numbers as fractions lose digits. */
const LARGE = 9_007_199_254_740_993n;
/** The longest window of a limit, a day, and what clocks may differ, in seconds. */
const LONGEST_WINDOW = 86_400 + 60;

/** The path of an animal that does not exist. */
export const unknown = `/pets/${INT64_MAX}`;

/** The key of the run with another last character. */
export const wrongKey = ({ given: { key } }: Way) => key.replace(/.$/, (last) => (last === "0" ? "1" : "0"));

/** Reads a page, which must have so many animals. */
async function page(way: Way, query: string, least: number, most = least): Promise<Came> {
  const came = await way.ask(`/pets${query}`);
  must(came, came.json?.length >= least && came.json.length <= most, `${least} to ${most} animals`);
  return came;
}

/** The id of an animal. */
const first = async (way: Way): Promise<bigint> => (await page(way, "?limit=1", 1)).json[0].id;

/** The interface alone: any implementation of it passes. The first check adds the animals that later ones read. */
export function core(operations: readonly Operation[]): readonly Check[] {
  const own = ["listPets", "createPet", "getPet"].map((name) => operations.find((one) => one.name === name));
  const [listPets, createPet, getPet] = own as [Operation, Operation, Operation];
  const { limit, status } = (listPets.query as TObject).properties as unknown as Record<"limit" | "status", Field>;
  const [pet, newPet] = [getPet.response.schema, createPet.body?.schema] as [TObject, TObject];
  /** What the interface says of an animal: the fields that each has, and the status. Later fields are additions. */
  const fields = Object.entries(pet.properties as unknown as Record<string, Field>)
    .filter(([name]) => pet.required?.includes(name) || name === "status")
    .map(([name, { type, enum: values }]) => [name, { type, ...(values && { enum: values }) }] as const);
  const schema = { type: "object", required: pet.required ?? [], properties: Object.fromEntries(fields) };
  const right = `animals with ${fields.map(([name, { type }]) => `${name} (${type})`).join(", ")}`;
  const isAnimal = (one: unknown) => fits(schema, one);
  const mustBeAnimals = (came: Came) => must(came, [JSON.parse(came.text)].flat().every(isAnimal), right);
  /** Adds an animal, which must come back with the fields that were sent. */
  const add = async (way: Way, one: object) => {
    const came = await way.post("/pets", one);
    mustBeAnimals(came);
    for (const [name, value] of Object.entries(one)) must(came, came.json[name] === value, `${name} ${value}`);
  };

  return [
    check("create", `createPet returns animals that are ${status.enum.join(", ")}`, help.calls, async (way) => {
      await Promise.all(status.enum.map((one) => add(way, way.animal({ status: one }))));
    }),
    check("list", "listPets returns animals", help.calls, async (way) =>
      mustBeAnimals(await page(way, "?limit=5", 1, 5)),
    ),
    check("get", "getPet returns one animal", help.calls, async (way) => {
      const id = await first(way);
      const came = await way.ask(`/pets/${id}`);
      mustBeAnimals(came);
      must(came, came.json.id === id, `the animal ${id}`);
    }),
    check("unknown-animal", "getPet answers 404 to an unknown id", help.errors, (way) => way.ask(unknown, 404)),
    check("sunset", "getPet announces no other day of its removal", help.asIs, async (way) => {
      const came = await way.ask(`/pets/${await first(way)}`);
      const removal = new Date(getPet.deprecation?.removal ?? "").toUTCString();
      if (came.headers.has("sunset")) mustHave(came, "sunset", removal);
    }),
    check("texts", "names come back as they were sent", help.asIs, (way) => add(way, way.animal({}, ` Zoë 🐕 <&"\\`))),
    check("digits", "64-bit integers keep all digits", "nothing may parse and write JSON", async (way) => {
      if (way.given.category) throw new Skipped("--category names the only category");
      await add(way, way.animal({ categoryId: LARGE }));
    }),
    check("limit", "a page holds at most `limit` animals", help.asIs, async (way) => {
      for (const most of [limit.minimum, limit.minimum + 1]) await page(way, `?limit=${most}`, most);
    }),
    check("default-limit", `without \`limit\`, a page holds ${limit.default} animals`, help.asIs, async (way) => {
      const { json } = await page(way, `?limit=${limit.maximum}`, 0, limit.maximum);
      for (let number = json.length; number <= limit.default; number++) await way.post("/pets", way.animal());
      await page(way, "", limit.default);
    }),
    check("bounds", "a `limit` that is too small or large is refused, or made to fit", help.errors, async (way) => {
      for (const most of [limit.minimum - 1, limit.maximum + 1]) {
        const came = await way.ask(`/pets?limit=${most}`, "200|400");
        const isFit = came.json?.length >= limit.minimum && came.json.length <= limit.maximum;
        must(came, came.status === 400 || isFit, `status 400, or ${limit.minimum} to ${limit.maximum} animals`);
      }
    }),
    check("status-filter", "`status` filters the list", help.asIs, async (way) => {
      for (const one of status.enum) {
        const came = await page(way, `?status=${one}&limit=${limit.maximum}`, 1, limit.maximum);
        const isRight = came.json.every((animal: { status: unknown }) => animal.status === one);
        must(came, isRight, `animals that are ${one}`);
      }
    }),
    check("missing-fields", "createPet refuses an animal without a required field", help.errors, async (way) => {
      for (const name of newPet.required ?? []) await way.post("/pets", way.animal({ [name]: undefined }), 400);
    }),
    check("invalid-values", "createPet refuses a value of another type", help.errors, async (way) => {
      for (const [name, { type }] of fields.filter((field) => field[0] in newPet.properties))
        await way.post("/pets", way.animal({ [name]: type === "integer" ? "one" : 1 }), 400);
      await way.post("/pets", way.animal({ status: "none of them" }), 400);
    }),
    check("no-key", "no operation answers without a key", "the proxy must add no key, nor cache", async (way) => {
      for (const { method, path, body } of [listPets, createPet, getPet])
        await way.ask(path.replace(/\{.*\}/, "1"), 401, { method, key: null, body: body && way.animal() });
    }),
    check("wrong-key", "an unknown key is refused", help.asIs, (way) => way.ask("/pets", 401, { key: wrongKey(way) })),
    check("errors", "every error so far had code, message and status", help.errors, ({ came }) => {
      for (const one of came.filter(({ status: is }) => is >= 400 && is !== 429)) {
        const isError = fits(ErrorBody, one.json) && one.json.status === one.status;
        must(one, isError, `an Error body with status ${one.status}`);
      }
    }),
    check("json", "every body so far was application/json", help.asIs, ({ came }) => {
      for (const one of came.filter(({ text }) => text)) mustHave(one, "content-type", "application/json");
    }),
    check("limit-headers", "every response so far said what is left of the limit", help.limits, ({ came }) => {
      for (const one of came) {
        const most = mustHave(one, "x-ratelimit-limit", "at least 1", (value) => Number(value) >= 1);
        const now = Math.floor(timeOf(one) / 1_000);
        mustHave(one, "x-ratelimit-remaining", `at most ${most}`, (left) => /^\d+$/.test(left) && +left <= +most);
        const isSoon = (value: string) => +value >= now - 1 && +value <= now + LONGEST_WINDOW;
        mustHave(one, "x-ratelimit-reset", `a Unix timestamp from ${now} on, within a day`, isSoon);
      }
    }),
    check("retry-after", "every 429 so far said when to try again", help.asIs, ({ came }) => {
      const limited = came.filter(({ status: is }) => is === 429);
      if (limited.length === 0) throw new Skipped("no request was refused; the level limits makes it happen");
      for (const one of limited) mustHave(one, "retry-after");
    }),
  ];
}
