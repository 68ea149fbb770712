import { type Finding, ok, warning } from "./finding.ts";

/** How far clocks may differ, in milliseconds. */
const TOLERANCE = 2_000;

/** Another clock, to compare with that of this machine. */
interface OtherClock {
  readonly name: string;
  /** How far it is ahead of this machine's, in milliseconds. */
  readonly ahead: number;
}

/** Compares the clock of this machine with those of servers, and with the last change of the store. */
export function checkClock(now: number, others: readonly OtherClock[], lastChange: number): Finding {
  const daemon = "Run a time daemon, such as chrony, on each machine.";
  const time = new Date(now).toISOString();
  if (lastChange > now + TOLERANCE) {
    const message = `It is ${time}, but the last change of the store was at ${new Date(lastChange).toISOString()}.`;
    return warning("clock", message, `The clock is slow now, or it was fast before. ${daemon}`);
  }
  const wrong = others.filter(({ ahead }) => Math.abs(ahead) > TOLERANCE);
  if (wrong.length === 0) {
    const names = others.map(({ name }) => name).join(" and ");
    return ok(
      "clock",
      names ? `${time}, the same as ${names}.` : `${time}. There is no other clock to compare it with.`,
    );
  }
  const difference = wrong.map(({ name, ahead }) => {
    const seconds = Math.round(Math.abs(ahead) / 1_000);
    return `${name} is ${seconds} s ${ahead > 0 ? "ahead" : "behind"}`;
  });
  return warning("clock", `It is ${time}; ${difference.join(", ")}.`, daemon);
}
