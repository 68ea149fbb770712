import type { Operation } from "../contract/operation.ts";
import { type Check, Skipped, Wrong } from "./check.ts";
import { core } from "./core.ts";
import { deployment, heartbeat } from "./deployment.ts";
import { limits } from "./limits.ts";
import { service } from "./service.ts";
import { Way } from "./way.ts";

export { Way };

/** What is too long to be shown of a request or of a response. */
const LONG = /^(.{300}).+/;

type Levels = Readonly<Record<string, readonly Check[]>>;
/** What a check found, and facts: why it was skipped, or about a failure. */
type Finding = Readonly<{ outcome: "ok" | "FAILED" | "skipped"; [fact: string]: string }>;

export function checksOf(operations: readonly Operation[]): Levels {
  return { core: core(operations), service: service(operations), deployment: deployment(operations), limits };
}

/** Makes the checks of the levels in order, and shows each. `lost` says after which the service no longer answered. */
export async function runChecks(levels: Levels, way: Way, show: (text: string) => unknown) {
  const all = Object.entries(levels).flatMap(([level, checks]) => checks.map((one) => ({ level, one })));
  if (all.some(({ one }) => one.run === heartbeat)) way.shared(heartbeat).catch(() => {}); // its check shows the error
  const outcomes: Finding[] = [];
  for (const { level, one } of all) {
    if (way.given.stop.aborted) break;
    const place = `[${outcomes.length + 1}/${all.length}]`;
    const { outcome, ...facts } = await make(one, way);
    outcomes.push({ level, name: one.name, proves: one.proves, outcome, ...facts });
    const lines = Object.entries(facts).map(([fact, text]) => `\n${" ".repeat(10)}${fact.padEnd(6)} ${text}`);
    await show(`${place} ${outcome.padEnd(7)} ${level} ${one.name}: ${one.proves}${lines.join("")}`);
    const isLost = outcome === "FAILED" && !(await way.exchange({ path: "/pets" }).catch(() => undefined));
    if (isLost) return { outcomes, lost: `${place} ${one.name}, ${facts.came}` };
  }
  return { outcomes, lost: undefined };
}

async function make({ run, proves, advice }: Check, way: Way): Promise<Finding> {
  try {
    await way.shared(run);
    return { outcome: "ok" };
  } catch (error) {
    if (error instanceof Skipped) return { outcome: "skipped", reason: error.message };
    // A check takes the shape of what came for granted: JavaScript's words for it say nothing to an operator.
    const { sent: asked = "", status, text } = way.last ?? {};
    const shape = { sent: asked, came: `a response of another shape: ${status} ${text}`, message: proves };
    const { sent, came, message: right } = error instanceof Wrong ? error : shape;
    return { outcome: "FAILED", sent: cut(sent), came: cut(came), right: cut(right), help: advice };
  }
}

const cut = (text: string) => text.replaceAll(/\s+/g, " ").replace(LONG, "$1…");
