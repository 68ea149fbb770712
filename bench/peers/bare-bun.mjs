// Bun's HTTP server with nothing behind it: the service's own responses, ready-made. What the service
// can hope for on this runtime.
import { readFileSync } from "node:fs";

const responses = JSON.parse(readFileSync(process.env.RESPONSES, "utf8"));
const respond = ({ body, headers }) => new Response(body, { headers });

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  development: false,
  routes: {
    "/v1/pets": () => respond(responses.list),
    "/v1/pets/:petId": () => respond(responses.get),
  },
});
