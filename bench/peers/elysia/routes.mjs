import { Elysia, t } from "elysia";
import * as api from "../interface.mjs";
import { failure } from "./failure.mjs";

const petStatus = t.Union([t.Literal("available"), t.Literal("pending"), t.Literal("sold")]);

const newPet = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 255 }),
    categoryId: t.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    status: t.Optional(petStatus),
  },
  { additionalProperties: false },
);

const listQuery = t.Object(
  {
    limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
    status: t.Optional(petStatus),
    cursor: t.Optional(t.String({ pattern: "^[A-Za-z0-9_-]+$" })),
  },
  { additionalProperties: false },
);

/** The three operations. */
export function routes(pets, base) {
  const deprecated = { Deprecation: api.DEPRECATION, Sunset: api.SUNSET, Link: api.deprecationLinks(base) };

  return new Elysia({ prefix: "/v1", normalize: false })
    .get(
      "/pets",
      ({ query, request, set }) => {
        const { limit, status: wanted, cursor } = query;
        const after = api.positionOf(cursor);
        if (!Number.isSafeInteger(after)) return failure(set, ...api.WRONG_CURSOR);
        const found = pets.list(after, limit + 1, wanted); // one more tells whether there is a next page
        if (found.length > limit) {
          found.pop();
          set.headers.Link = api.nextLink(base, query, found.at(-1));
        }
        return tagged(request, set, found);
      },
      { query: listQuery },
    )
    .post(
      "/pets",
      ({ body, request, set, caller, requestId }) => {
        const key = request.headers.get("Idempotency-Key") ?? undefined;
        const outcome = pets.add(body, caller.id, requestId, key);
        if (!outcome) return failure(set, ...api.KEY_REUSED);
        set.status = 201;
        Object.assign(set.headers, api.headersOfNew(base, outcome));
        return outcome.text;
      },
      { body: newPet },
    )
    .get("/pets/:petId", ({ params: { petId }, request, set }) => {
      Object.assign(set.headers, deprecated);
      const found = api.isPetId(petId) ? pets.get(Number(petId)) : undefined;
      return found ? tagged(request, set, found) : failure(set, ...api.noPet(petId));
    });
}

/** A response with an entity tag. */
function tagged({ headers }, set, value) {
  const body = JSON.stringify(value);
  const tag = api.entityTag(body);
  set.headers.ETag = tag;
  if (headers.get("If-None-Match") === tag) {
    set.status = 304;
    return null;
  }
  set.headers["Content-Type"] = api.JSON_TYPE;
  return body;
}
