// Node's HTTP server with nothing behind it: the service's own responses, ready-made.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const responses = JSON.parse(readFileSync(process.env.RESPONSES, "utf8"));

createServer((request, response) => {
  const { body, headers } = request.url.startsWith("/v1/pets/") ? responses.get : responses.list;
  response.writeHead(200, { ...headers, "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}).listen(Number(process.env.PORT), "127.0.0.1");
