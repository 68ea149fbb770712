import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import * as api from "../interface.mjs";
import { refuse, requireValid, tagged } from "./responses.mjs";
import { listQuery, newPet } from "./schemas.mjs";

/** The three operations. */
export function routes(pets, base) {
  const deprecated = api.deprecationLinks(base);

  return new Hono()
    .get("/pets", zValidator("query", listQuery, requireValid), (c) => {
      const query = c.req.valid("query");
      const { limit, status: wanted, cursor } = query;
      const after = api.positionOf(cursor);
      if (!Number.isSafeInteger(after)) return refuse(c, ...api.WRONG_CURSOR);
      const found = pets.list(after, limit + 1, wanted); // one more tells whether there is a next page
      if (found.length > limit) {
        found.pop();
        c.header("Link", api.nextLink(base, query, found.at(-1)));
      }
      return tagged(c, found);
    })
    .post("/pets", zValidator("json", newPet, requireValid), (c) => {
      const key = c.req.header("Idempotency-Key");
      const outcome = pets.add(c.req.valid("json"), c.get("caller").id, c.get("requestId"), key);
      return outcome ? c.body(outcome.text, 201, api.headersOfNew(base, outcome)) : refuse(c, ...api.KEY_REUSED);
    })
    .get("/pets/:petId", (c) => {
      const petId = c.req.param("petId");
      c.header("Deprecation", api.DEPRECATION);
      c.header("Sunset", api.SUNSET);
      c.header("Link", deprecated);
      const found = api.isPetId(petId) ? pets.get(Number(petId)) : undefined;
      return found ? tagged(c, found) : refuse(c, ...api.noPet(petId));
    });
}
