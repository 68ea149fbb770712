import { refuse } from "../fastify/replies.mjs";
import { listQuery, newPet, pet } from "../fastify/schemas.mjs";
import { DEPRECATION, deprecationLinks, isPetId, nextLink, positionOf, SUNSET } from "../interface.mjs";

/** The three operations. */
export async function routes(app, { pets, base }) {
  const deprecated = deprecationLinks(base);

  app.get(
    "/pets",
    { schema: { querystring: listQuery, response: { 200: { type: "array", items: pet } } } },
    async (request, reply) => {
      const { limit, status: wanted, cursor } = request.query;
      const after = positionOf(cursor);
      if (!Number.isSafeInteger(after)) return refuse(reply, 400, "invalid_request", "cursor is not one of this list");
      const found = await pets.list(after, limit + 1, wanted); // one more tells whether there is a next page
      if (found.length > limit) {
        found.pop();
        reply.header("Link", nextLink(base, request.query, found.at(-1)));
      }
      return found;
    },
  );

  app.post("/pets", { schema: { body: newPet, response: { 201: pet } } }, async (request, reply) => {
    const added = await pets.add(request.body, request.caller.id, request.id);
    reply.code(201).header("Location", `${base}/pets/${added.id}`);
    return added;
  });

  app.get("/pets/:petId", { schema: { response: { 200: pet } } }, async (request, reply) => {
    const { petId } = request.params;
    reply.header("Deprecation", DEPRECATION).header("Sunset", SUNSET).header("Link", deprecated);
    const found = isPetId(petId) ? await pets.get(Number(petId)) : undefined;
    return found ?? refuse(reply, 404, "pet_not_found", `No animal has the id ${petId}.`);
  });
}
