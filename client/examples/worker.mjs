// A worker that shows which animals are available, such as for the page of a shop. It runs where workers have a `fetch`
// handler: workerd and Cloudflare, `deno serve`, and Bun. Only the worker has the key, and visitors never see it.
import { Petstore, stringify } from "petstore-client";

const json = (value, status = 200) =>
  new Response(stringify(value), { status, headers: { "Content-Type": "application/json" } });

export default {
  async fetch(request, env) {
    // workerd and Cloudflare pass the settings. Elsewhere, the client reads the environment.
    const petstore = new Petstore({ key: env.PETSTORE_KEY, baseUrl: env.PETSTORE_URL });
    const [, id] = new URL(request.url).pathname.split("/");
    if (!/^\d{0,19}$/.test(id) || BigInt(id) >= 2n ** 63n) return json({ message: "No such animal." }, 404);
    try {
      if (!id) return json(await petstore.listPets({ status: "available" }).page());
      const [pet] = await petstore.listPets({ ids: [BigInt(id)] }).page();
      return pet ? json(pet) : json({ message: "No such animal." }, 404);
    } catch (error) {
      return json({ message: "The shop cannot be reached.", code: error.code }, 503);
    }
  },
};
