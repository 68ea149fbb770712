import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { DEPRECATION, deprecationLinks, isPetId, nextLink, positionOf, SUNSET } from "../interface.mjs";
import { refuse, requireValid, tagged } from "./responses.mjs";
import { listQuery, newPet } from "./schemas.mjs";

/** The three operations. */
export function routes(pets, base) {
  const deprecated = deprecationLinks(base);

  return new Hono()
    .get("/pets", zValidator("query", listQuery, requireValid), (c) => {
      const query = c.req.valid("query");
      const { limit, status: wanted, cursor } = query;
      const after = positionOf(cursor);
      if (!Number.isSafeInteger(after)) return refuse(c, 400, "invalid_request", "cursor is not one of this list");
      const found = pets.list(after, limit + 1, wanted); // one more tells whether there is a next page
      if (found.length > limit) {
        found.pop();
        c.header("Link", nextLink(base, query, found.at(-1)));
      }
      return tagged(c, found);
    })
    .post("/pets", zValidator("json", newPet, requireValid), (c) => {
      const added = pets.add(c.req.valid("json"), c.get("caller").id, c.get("requestId"));
      return c.json(added, 201, { Location: `${base}/pets/${added.id}` });
    })
    .get("/pets/:petId", (c) => {
      const petId = c.req.param("petId");
      c.header("Deprecation", DEPRECATION);
      c.header("Sunset", SUNSET);
      c.header("Link", deprecated);
      const found = isPetId(petId) ? pets.get(Number(petId)) : undefined;
      return found ? tagged(c, found) : refuse(c, 404, "pet_not_found", `No animal has the id ${petId}.`);
    });
}
