import { setTimeout as pause } from "node:timers/promises";
import { type Came, type Check, check, help, must, mustHave, Skipped, type Way } from "./check.ts";

/** The requests of a minute on the plan Free, and those after it that are tried. */
const [FREE, BEYOND] = [60, 20];
/** What the seconds of three headers may differ by, because each is rounded. */
const ROUNDING = 2;
/** A request counts as sent too early from a second after the first refusal on, in milliseconds. */
const TOO_EARLY = 1_100;

const numberIn = ({ headers }: Came, name: string) => Number(headers.get(name));

/** Uses up a new minute. The last response is a refusal, unless too many were admitted. */
async function burst(way: Way) {
  const { limitsKey: key } = way.given;
  if (key === undefined) throw new Skipped("PETSTORE_LIMITS_KEY is not set");
  const ask = () => way.exchange({ path: "/pets?limit=1", key });
  let last = await way.ask("/pets?limit=1", 200, { key });
  mustHave(last, "x-ratelimit-limit", `${FREE}`);
  if (numberIn(last, "x-ratelimit-remaining") < FREE - 1) {
    await pause(numberIn(last, "x-ratelimit-reset") * 1_000 + 1_000 - Date.now());
    last = await ask();
  }
  const admitted: Came[] = [];
  for (; last.status === 200 && admitted.length < FREE + BEYOND; last = await ask()) admitted.push(last);
  return { admitted, last, ask };
}

/** The minute of a key. It runs last, because nothing else could be done with the key. */
export const limits: readonly Check[] = [
  check("admitted", `${FREE} requests of a key are admitted`, "docs/many-processes.md", async (way) => {
    const { admitted, last } = await way.shared(burst);
    must(last, admitted.length === FREE, `${FREE} admitted requests, not ${admitted.length}`);
  }),
  check("remaining", "each response says one less than the one before", help.limits, async (way) => {
    const { admitted } = await way.shared(burst);
    for (const [index, one] of admitted.entries()) mustHave(one, "x-ratelimit-remaining", `${FREE - 1 - index}`);
  }),
  check("refusal", "the next request is refused until the minute ends", help.limits, async (way) => {
    const { last } = await way.shared(burst);
    mustHave(last, "x-ratelimit-remaining", "0");
    const end = numberIn(last, "x-ratelimit-reset") - Date.parse(last.headers.get("date") ?? "") / 1_000;
    mustHave(last, "retry-after", `${end}, as x-ratelimit-reset`, (value) => Math.abs(Number(value) - end) <= ROUNDING);
  }),
  check("too-early", "one request before that is refused like it, and bans nobody yet", help.limits, async (way) => {
    const { last, ask } = await way.shared(burst);
    await pause(TOO_EARLY);
    const came = await ask();
    must(came, came.status === 429 && came.json?.code === last.json?.code, `status 429, code ${last.json?.code}`);
  }),
];
