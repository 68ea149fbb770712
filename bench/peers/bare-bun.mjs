// Bun's HTTP server with nothing behind it: the service's own answers, ready-made. What the service
// can hope for on this runtime.
import { readFileSync } from "node:fs";

const answers = JSON.parse(readFileSync(process.env.ANSWERS, "utf8"));
const answer = ({ body, headers }) => new Response(body, { headers });

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  development: false,
  routes: {
    "/v1/pets": () => answer(answers.list),
    "/v1/pets/:petId": () => answer(answers.get),
  },
});
