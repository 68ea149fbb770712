// Measures the longest piece of work that each operation does at once for its costliest requests, as a multiple of
// reading one animal. Others wait so long at most. Clients are in another thread. Each figure is the least of several
// repetitions, because other work on the machine only adds to it.
//
//   npx bun bench/costs.ts [REPETITIONS] [OPERATION]...     (default 5, all)
import { domains } from "../src/app/domains.ts";
import { CostlyShop, costlyOperations, type Send } from "../test/harness/costly-requests.ts";
import { TestService } from "../test/harness/service.ts";

/** At most so many times the time of reading one animal. */
const MOST = 150;
const MOST_OF_MANY = 600;
const many = new Set(["importPets", "deletePets"]);

const [repetitions = "5", ...only] = process.argv.slice(2);
const operations = costlyOperations(domains.flatMap((domain) => domain.operations));
const service = await TestService.start();
const { key } = await service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]);

const client = new Worker(
  URL.createObjectURL(
    new Blob([
      `self.onmessage = async ({ data: { url, method, key, body, isQuiet } }) => {
         const headers = { Authorization: "Bearer " + key, "Content-Type": "application/json" };
         const response = await fetch(url, { method, headers, body });
         const text = await response.text();
         postMessage({ status: response.status, bytes: text.length, text: isQuiet ? "" : text });
       };`,
    ]),
  ),
);
interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
}
function request(method: string, path: string, body: string | undefined, isQuiet: boolean): Promise<Answer> {
  return new Promise((resolve) => {
    client.addEventListener("message", ({ data }) => resolve(data as Answer), { once: true });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    client.postMessage({ url: service.app.base + path, method, key, body, isQuiet });
  });
}
const send: Send = async (method, path, body) => {
  const { status, text } = await request(method, path, body, false);
  return { status, json: text === "" ? undefined : JSON.parse(text) };
};

/** The longest turn of the event loop during a request, in milliseconds, and its answer. */
async function measure(method: string, path: string, body: string | undefined) {
  let longest = 0;
  let isRunning = true;
  let last = performance.now();
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isRunning) setImmediate(turn);
  };
  const answer = request(method, path, body, true);
  last = performance.now();
  setImmediate(turn);
  const { status, bytes } = await answer;
  await new Promise((resolve) => setImmediate(resolve)); // the turn in which it was answered
  isRunning = false;
  return { longest, status, bytes };
}

const shop = await CostlyShop.fill(send, service.clock.now(), operations);
await send("POST", "/pets", JSON.stringify({ name: "Rex", categoryId: 1 }));
const one = String((await send("GET", "/pets?limit=1&sort=-id")).json[0].id);
let unit = Number.POSITIVE_INFINITY;
for (let index = 0; index < 500; index++)
  unit = Math.min(unit, (await measure("GET", `/pets/${one}`, undefined)).longest);
console.log(`One animal: ${(unit * 1000).toFixed(0)} µs`);

let isTooMuch = false;
for (const operation of operations) {
  const { name } = operation;
  if (only.length > 0 && !only.includes(name)) continue;
  const found = new Map<string, { longest: number; status: number; bytes: number }>();
  for (let repetition = 0; repetition < Number(repetitions); repetition++) {
    let index = 0;
    for await (const { what, method, path, body } of shop.of(operation)) {
      const uncached = path.replace("limit=100", `limit=${100 - repetition}`);
      const measured = await measure(method, uncached, body);
      const label = `${index++} ${what}`;
      const longest = Math.min(measured.longest, found.get(label)?.longest ?? Number.POSITIVE_INFINITY);
      found.set(label, { ...measured, longest });
    }
  }
  const [[what, { longest, status, bytes }] = ["", { longest: 0, status: 0, bytes: 0 }]] = [...found].toSorted(
    ([, left], [, right]) => right.longest - left.longest,
  );
  const times = longest / unit;
  const isOver = times > (many.has(name) ? MOST_OF_MANY : MOST);
  isTooMuch ||= isOver;
  const verdict = isOver ? "TOO MUCH" : "";
  console.log(
    `${name.padEnd(24)} ${longest.toFixed(2).padStart(7)} ms ${times.toFixed(0).padStart(5)} × ${String(bytes).padStart(7)} bytes  ${status} ${what.slice(2)} ${verdict}`,
  );
}
client.terminate();
await service.stop();
process.exit(isTooMuch ? 1 : 0);
