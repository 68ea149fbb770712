// Node's http module, without an agent that keeps connections. Arguments and output as of fetch.mjs.
import { request } from "node:http";

const [address, key, rounds, ...sizes] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };

/** One request, and what the client saw of its response. */
function send(bytes, framing) {
  return new Promise((resolve) => {
    const length = framing === "length" ? { "Content-Length": bytes.length } : {};
    const sent = request(address, { method: "POST", headers: { ...headers, ...length } }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => (text += piece));
      response.on("end", () => resolve(`${response.statusCode} ${JSON.parse(text).code}`));
      response.on("error", (error) => resolve(String(error)));
    });
    sent.on("error", (error) => resolve(String(error)));
    for (let start = 0; start < bytes.length; start += 65_536) sent.write(bytes.subarray(start, start + 65_536));
    sent.end();
  });
}

for (const size of sizes.map(Number)) {
  const bytes = Buffer.alloc(size, 32);
  for (let round = 0; round < Number(rounds); round++) {
    for (const framing of ["length", "chunked"]) console.log(`${framing} ${size} ${await send(bytes, framing)}`);
  }
}
