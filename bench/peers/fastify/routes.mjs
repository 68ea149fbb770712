import { crc32 } from "node:zlib";

const status = { type: "string", enum: ["available", "pending", "sold"] };
const newPet = {
  type: "object",
  required: ["name", "categoryId"],
  additionalProperties: false,
  properties: { name: { type: "string", minLength: 1, maxLength: 255 }, categoryId: { type: "integer" }, status },
};
const pet = {
  type: "object",
  properties: { id: { type: "integer" }, name: { type: "string" }, categoryId: { type: "integer" }, status },
};

const DEPRECATION = "@1795219200";
const SUNSET = "Thu, 05 Dec 2030 00:00:00 GMT";

/** The three operations. */
export async function routes(app, { pets, base }) {
  const deprecated =
    `<${base.replace(/\/v1$/, "/docs")}#tag/animals/getPet>; rel="deprecation"; type="text/html", ` +
    `<${base}/pets>; rel="successor-version"`;

  app.addHook("onSend", tagAnswer);

  const query = {
    type: "object",
    additionalProperties: false,
    properties: {
      limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      status,
      cursor: { type: "string", pattern: "^[A-Za-z0-9_-]+$" },
    },
  };
  app.get(
    "/pets",
    { schema: { querystring: query, response: { 200: { type: "array", items: pet } } } },
    (request, reply) => {
      const { limit, status: wanted, cursor } = request.query;
      const after = cursor === undefined ? 0 : Number(Buffer.from(cursor, "base64url").toString());
      if (!Number.isSafeInteger(after)) {
        reply.code(400).send({ code: "invalid_request", message: "cursor is not one of this list", status: 400 });
        return;
      }
      const found = pets.list(after, limit + 1, wanted); // one more tells whether there is a next page
      if (found.length > limit) {
        found.pop();
        const next = new URLSearchParams({ limit });
        if (wanted) next.set("status", wanted);
        next.set("cursor", Buffer.from(String(found.at(-1).id)).toString("base64url"));
        reply.header("Link", `<${base}/pets?${next}>; rel="next"`);
      }
      reply.send(found);
    },
  );

  app.post("/pets", { schema: { body: newPet, response: { 201: pet } } }, (request, reply) => {
    const added = pets.add(request.body);
    reply.code(201).header("Location", `${base}/pets/${added.id}`).send(added);
  });

  app.get("/pets/:petId", { schema: { response: { 200: pet } } }, (request, reply) => {
    const { petId } = request.params;
    reply.header("Deprecation", DEPRECATION).header("Sunset", SUNSET).header("Link", deprecated);
    const found = /^[1-9][0-9]{0,15}$/.test(petId) ? pets.get(Number(petId)) : undefined;
    if (found) reply.send(found);
    else reply.code(404).send({ code: "pet_not_found", message: `No animal has the id ${petId}.`, status: 404 });
  });
}

function tagAnswer(request, reply, payload, done) {
  if (reply.statusCode !== 200) return done(null, payload);
  const tag = `"${payload.length.toString(36)}-${crc32(payload).toString(36)}"`;
  reply.header("ETag", tag);
  if (request.headers["if-none-match"] !== tag) return done(null, payload);
  reply.code(304);
  return done(null, null);
}
