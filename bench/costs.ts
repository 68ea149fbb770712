// Measures the longest piece of work that each operation, stream and tool does at once for its costliest requests, in CPU
// time of its thread, as a multiple of reading one animal. Others wait so long at most. Clients are in another thread.
// Each figure is the least of several repetitions, because collected garbage and compiled code only add to it.
//
//   npx bun bench/costs.ts [REPETITIONS] [OPERATION OR TOOL]...     (default 5, all)
import { dlopen, ptr } from "bun:ffi";
import { domains } from "../src/app/domains.ts";
import { messageOf } from "../test/harness/agents.ts";
import { CostlyShop, costlyOperations, costlyTools, type Send, shareOf } from "../test/harness/costly-requests.ts";
import { TestService } from "../test/harness/service.ts";

/** At most so many times the time of reading one animal. */
const MOST = 150;
/** Orders of the shop. Half of them are sales, each by another seller. */
const ORDERS = 12_000;
/** So long nothing comes when a stream has sent what is stored, in milliseconds; and how much is read of it, in bytes. */
const [QUIET, ENOUGH] = [150, 4_000_000];

interface Message {
  readonly method: string;
  /** Below the base address. */
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | undefined;
}
interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
}
interface Figures {
  /** Milliseconds. */
  readonly longest: number;
  readonly total: number;
  readonly status: number;
  readonly bytes: number;
}

const THREAD_CPU_TIME = 3; // CLOCK_THREAD_CPUTIME_ID of Linux
const { symbols } = dlopen("libc.so.6", { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } });
const time = new BigInt64Array(2);
const timeAddress = ptr(time);
/** How long this thread has used CPUs, in milliseconds. A call takes a few microseconds. */
function threadTime(): number {
  symbols.clock_gettime(THREAD_CPU_TIME, timeAddress);
  return Number(time[0]) * 1e3 + Number(time[1]) / 1e6;
}

const [repetitions = "5", ...only] = process.argv.slice(2);
const operations = costlyOperations(domains.flatMap((domain) => domain.operations));
const service = await TestService.start();
const { key } = await service.newAccountWithKey("enterprise", undefined, ["read", "write", "admin"]);
await service.store.run("UPDATE shops SET animals_allowed = NULL");

const client = new Worker(
  URL.createObjectURL(
    new Blob([
      `self.onmessage = async ({ data: { url, isStream, isQuiet, ...sent } }) => {
         const ended = new AbortController();
         const { status, body } = await fetch(url, { ...sent, signal: ended.signal });
         let [bytes, texts] = [0, []];
         const decoder = new TextDecoder();
         const end = () => { postMessage({ status, bytes, text: texts.join("") }); ended.abort(); };
         let quiet = isStream ? setTimeout(end, ${QUIET}) : undefined;
         try {
           for await (const part of body ?? []) {
             bytes += part.length;
             if (!isQuiet) texts.push(decoder.decode(part, { stream: true }));
             if (isStream) { clearTimeout(quiet); quiet = setTimeout(end, ${QUIET}); }
             if (isStream && bytes > ${ENOUGH}) break;
           }
           clearTimeout(quiet);
           end();
         } catch { }
       };`,
    ]),
  ),
);
function request({ path, ...sent }: Message, isQuiet: boolean): Promise<Answer> {
  return new Promise((resolve) => {
    client.addEventListener("message", ({ data }) => resolve(data as Answer), { once: true });
    const headers = { "Content-Type": "application/json", ...sent.headers, Authorization: `Bearer ${key}` };
    const isStream = path.startsWith("/events/stream");
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    client.postMessage({ ...sent, url: service.app.base + path, headers, isStream, isQuiet });
  });
}
const send: Send = async (method, path, body) => {
  const { status, text } = await request({ method, path, body }, false);
  return { status, json: text === "" ? undefined : JSON.parse(text) };
};

/** The longest turn of the event loop during a request, and its answer. */
async function measure(message: Message): Promise<Figures> {
  let longest = 0;
  let isRunning = true;
  const start = threadTime();
  let last = start;
  const turn = () => {
    const now = threadTime();
    longest = Math.max(longest, now - last);
    last = now;
    if (isRunning) setImmediate(turn);
  };
  const answer = request(message, true);
  last = threadTime();
  setImmediate(turn);
  const { status, bytes } = await answer;
  await new Promise((resolve) => setImmediate(resolve)); // the turn in which it was answered
  isRunning = false;
  return { longest, total: last - start, status, bytes };
}

const shop = await CostlyShop.fill(send, service.clock.now(), operations, ORDERS);
await send("POST", "/pets", JSON.stringify({ name: "Rex", categoryId: 1 }));
const one = String((await send("GET", "/pets?limit=1&sort=-id")).json[0].id);
let unit = Number.POSITIVE_INFINITY;
for (let index = 0; index < 500; index++)
  unit = Math.min(unit, (await measure({ method: "GET", path: `/pets/${one}` })).longest);
console.log(`One animal: ${(unit * 1000).toFixed(0)} µs`);

const toMcp = (method: string, params: object) => ({
  method: "POST",
  path: "/../mcp",
  ...messageOf("2025-11-25", method, { ...params }),
});
const subjects: (readonly [name: string, requests: () => AsyncGenerator<Message & { readonly what: string }>])[] = [
  [
    "tools/list",
    async function* () {
      yield { what: "", ...toMcp("tools/list", {}) };
    },
  ],
  ...costlyTools(operations).map(
    (tool) =>
      [
        tool.name,
        async function* () {
          for await (const { what, given } of shop.ofTool(tool))
            yield { what, ...toMcp("tools/call", { name: tool.name, arguments: given }) };
        },
      ] as const,
  ),
  ...operations.map((operation) => [operation.name, () => shop.of(operation)] as const),
];
let isTooMuch = false;
for (const [name, requests] of subjects) {
  if (only.length > 0 && !only.includes(name)) continue;
  const found = new Map<string, Figures>();
  service.clock.advance(60_000); // for limits of operations that cost no quota
  for (let repetition = 0; repetition < Number(repetitions); repetition++) {
    let index = 0;
    for await (const { what, ...message } of requests()) {
      const path = message.path.replace("limit=100", `limit=${100 - repetition}`); // not from the cache
      const measured = await measure({ ...message, path });
      const label = `${index++} ${what}`;
      const longest = Math.min(measured.longest, found.get(label)?.longest ?? Number.POSITIVE_INFINITY);
      found.set(label, { ...measured, longest });
    }
  }
  const [[what, { longest, total, status, bytes }] = ["", { longest: 0, total: 0, status: 0, bytes: 0 }]] = [
    ...found,
  ].toSorted(([, left], [, right]) => right.longest - left.longest);
  const times = longest / unit;
  const isOver = times > MOST * shareOf(name);
  isTooMuch ||= isOver;
  const verdict = isOver ? "TOO MUCH" : "";
  console.log(
    `${name.padEnd(24)} ${longest.toFixed(2).padStart(7)} ms ${times.toFixed(0).padStart(5)} × (${total.toFixed(1)} ms in all) ${String(bytes).padStart(7)} bytes  ${status} ${what.slice(2)} ${verdict}`,
  );
}
client.terminate();
await service.stop();
process.exit(isTooMuch ? 1 : 0);
