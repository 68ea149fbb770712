import * as api from "../interface.mjs";
import { refuse, tagResponse } from "./replies.mjs";
import { listQuery, newPet, pet } from "./schemas.mjs";

/** The three operations. */
export async function routes(app, { pets, base }) {
  const deprecated = api.deprecationLinks(base);

  app.addHook("onSend", tagResponse);

  app.get(
    "/pets",
    { schema: { querystring: listQuery, response: { 200: { type: "array", items: pet } } } },
    (request, reply) => {
      const { limit, status: wanted, cursor } = request.query;
      const after = api.positionOf(cursor);
      if (!Number.isSafeInteger(after)) {
        refuse(reply, ...api.WRONG_CURSOR);
        return;
      }
      const found = pets.list(after, limit + 1, wanted); // one more tells whether there is a next page
      if (found.length > limit) {
        found.pop();
        reply.header("Link", api.nextLink(base, request.query, found.at(-1)));
      }
      reply.send(found);
    },
  );

  app.post("/pets", { schema: { body: newPet } }, (request, reply) => {
    const outcome = pets.add(request.body, request.caller.id, request.id, request.headers["idempotency-key"]);
    if (outcome) reply.code(201).headers(api.headersOfNew(base, outcome)).send(outcome.text);
    else refuse(reply, ...api.KEY_REUSED);
  });

  app.get("/pets/:petId", { schema: { response: { 200: pet } } }, (request, reply) => {
    const { petId } = request.params;
    reply.header("Deprecation", api.DEPRECATION).header("Sunset", api.SUNSET).header("Link", deprecated);
    const found = api.isPetId(petId) ? pets.get(Number(petId)) : undefined;
    if (found) reply.send(found);
    else refuse(reply, ...api.noPet(petId));
  });
}
