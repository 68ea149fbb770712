// Kills the service over and over, and looks for all that it had acknowledged. `npm run torture` does
// the same for longer.
import { describe, expect, test } from "bun:test";
import { controlCommand } from "./controls/command.ts";
import { CrashTest } from "./crash-test.ts";

const ROUNDS = Number(process.env["TORTURE_ROUNDS"] ?? 12);
const SEED = Number(process.env["TORTURE_SEED"] ?? crypto.getRandomValues(new Uint32Array(1))[0]);
/** Rounds until a new data folder is used, so that the check after each kill stays fast. */
const ROUNDS_PER_STORE = 100;
const REPORT_EVERY = 20;
/** A bound for a round that hangs, in milliseconds; most take half a second. */
const MAX_ROUND = 5_000;
/** Likewise for a control, in milliseconds; most take some seconds. */
const MAX_CONTROL = 180_000;

describe("a service that is killed again and again", () => {
  test(
    "keeps all that it acknowledged, and is soon ready again",
    async () => {
      for (let round = 0; round < ROUNDS; ) {
        const last = Math.min(ROUNDS, round + ROUNDS_PER_STORE);
        const seed = SEED + round;
        console.log(`To repeat: npm run torture -- --rounds ${last - round} --seed ${seed}`);
        await using crashTest = new CrashTest(seed);
        await crashTest.begin();
        while (round < last && crashTest.violations.length === 0) {
          await crashTest.round();
          if (++round % REPORT_EVERY === 0) console.log(`round ${round} of ${ROUNDS}: ${crashTest.report}`);
        }
        if (crashTest.violations.length === 0) await crashTest.finish(); // otherwise the folder stays as it was found
        expect(crashTest.violations.slice(0, 10), `The data folder is ${crashTest.dataDir}.`).toEqual([]);
        console.log(`${round} rounds: ${crashTest.report}`);
        crashTest.removeData();
      }
    },
    60_000 + ROUNDS * MAX_ROUND,
  );

  test(
    "is found out if it acknowledges before it commits",
    () => expectFound("early", /was acknowledged and is missing$/, /^shop .* must be .*, and is /),
    MAX_CONTROL,
  );

  test(
    "is found out if it can leave a change half done",
    () => expectFound("piecemeal", /^shop .* or, whole, .*, and is /),
    MAX_CONTROL,
  );
});

/**
 * Kills a control until each of its faults was found. A kill at a harmless moment finds nothing, so the
 * load is mostly changes of orders, which take several statements: most kills then hit one.
 */
async function expectFound(control: "early" | "piecemeal", ...faults: readonly RegExp[]): Promise<void> {
  await using crashTest = new CrashTest(SEED, controlCommand(control), { connections: 1, bans: false });
  await crashTest.begin();
  const missing = () => faults.filter((fault) => !crashTest.violations.some((one) => fault.test(one)));
  while (missing().length > 0) await crashTest.round();
  expect(missing()).toEqual([]);
  crashTest.removeData();
}
