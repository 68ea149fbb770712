// Kills the service over and over, and looks for all that it had acknowledged. `npm run torture` does
// the same for longer.
import { describe, expect, test } from "bun:test";
import { controlCommand } from "./controls/command.ts";
import { Siege } from "./siege.ts";

const ROUNDS = Number(process.env["TORTURE_ROUNDS"] ?? 22);
const SEED = Number(process.env["TORTURE_SEED"] ?? crypto.getRandomValues(new Uint32Array(1))[0]);
/** Then a new folder is begun, so that what is looked at after each kill stays small. */
const ROUNDS_PER_STORE = 100;
const REPORT_EVERY = 20;
/** A bound for a round that hangs, in milliseconds; most take half a second. */
const LONGEST_ROUND = 5_000;

describe("a service that is killed over and over", () => {
  test(
    "keeps all that it acknowledged, and is soon ready again",
    async () => {
      for (let round = 0; round < ROUNDS; ) {
        const last = Math.min(ROUNDS, round + ROUNDS_PER_STORE);
        const seed = SEED + round;
        console.log(`To repeat: npm run torture -- --rounds ${last - round} --seed ${seed}`);
        await using siege = new Siege(seed);
        await siege.begin();
        while (round < last && siege.violations.length === 0) {
          await siege.round();
          if (++round % REPORT_EVERY === 0) console.log(`round ${round} of ${ROUNDS}: ${siege.report}`);
        }
        if (siege.violations.length === 0) await siege.finish(); // otherwise the folder stays as it was found
        expect(siege.violations.slice(0, 10), `The data folder is ${siege.dataDir}.`).toEqual([]);
        console.log(`${round} rounds: ${siege.report}`);
        siege.removeData();
      }
    },
    60_000 + ROUNDS * LONGEST_ROUND,
  );

  test("is found out if it acknowledges before it commits", async () => {
    await using siege = new Siege(SEED, controlCommand("early"));
    await siege.begin();
    const isFound = () => siege.violations.some((one) => one.endsWith("was acknowledged and is missing"));
    while (!isFound()) await siege.round(); // a kill before the first acknowledgement finds nothing yet
    expect(isFound()).toBe(true);
    siege.removeData();
  });
});
