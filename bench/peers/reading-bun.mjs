// Bun's HTTP server that reads what the service reads of each request, and sends the service's own responses: what HTTP
// alone costs the service on this runtime.
import { readFileSync } from "node:fs";
import { readHeaders } from "./read-headers.mjs";

const responses = JSON.parse(readFileSync(process.env.RESPONSES, "utf8"));
const ready = ({ body, headers }) => ({ body, headers: new Headers(headers) });
const [get, list, create] = [responses.get, responses.list, responses.create].map(ready);

/** The total length of what was read. Without a use, the compiler could remove the reads. */
let length = 0;

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  development: false,
  routes: {
    "/v1/pets": {
      GET: (request) => {
        readHeaders(request.headers);
        length += request.url.length;
        return new Response(list.body, { headers: list.headers });
      },
      POST: async (request) => {
        readHeaders(request.headers, true);
        length += Object.keys(JSON.parse(Buffer.from(await request.bytes()).toString())).length;
        return new Response(create.body, { status: 201, headers: create.headers });
      },
    },
    "/v1/pets/:petId": (request) => {
      readHeaders(request.headers);
      length += request.params.petId.length;
      return new Response(get.body, { headers: get.headers });
    },
  },
});
