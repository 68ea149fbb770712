import { refuse } from "../fastify/replies.mjs";
import { listQuery, newPet, pet } from "../fastify/schemas.mjs";
import * as api from "../interface.mjs";

/** The three operations. */
export async function routes(app, { pets, base }) {
  const deprecated = api.deprecationLinks(base);

  app.get(
    "/pets",
    { schema: { querystring: listQuery, response: { 200: { type: "array", items: pet } } } },
    async (request, reply) => {
      const { limit, status: wanted, cursor } = request.query;
      const after = api.positionOf(cursor);
      if (!Number.isSafeInteger(after)) return refuse(reply, ...api.WRONG_CURSOR);
      const found = await pets.list(after, limit + 1, wanted); // one more tells whether there is a next page
      if (found.length > limit) {
        found.pop();
        reply.header("Link", api.nextLink(base, request.query, found.at(-1)));
      }
      return found;
    },
  );

  app.post("/pets", { schema: { body: newPet } }, async (request, reply) => {
    const outcome = await pets.add(request.body, request.caller.id, request.id, request.headers["idempotency-key"]);
    if (!outcome) return refuse(reply, ...api.KEY_REUSED);
    reply.code(201).headers(api.headersOfNew(base, outcome));
    return outcome.text;
  });

  app.get("/pets/:petId", { schema: { response: { 200: pet } } }, async (request, reply) => {
    const { petId } = request.params;
    reply.header("Deprecation", api.DEPRECATION).header("Sunset", api.SUNSET).header("Link", deprecated);
    const found = api.isPetId(petId) ? await pets.get(Number(petId)) : undefined;
    return found ?? refuse(reply, ...api.noPet(petId));
  });
}
