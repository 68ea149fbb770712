import { type Command, CommandFailed } from "../terminal/command.ts";
import { counted, plainLines } from "../terminal/output.ts";
import type { Wrong } from "./came.ts";
import { levelNames, read, variables } from "./given.ts";
import type { Way } from "./way.ts";

export const verifyCommand: Command = {
  name: "verify",
  summary: "Check whether an address serves a petstore that keeps its promises, with all that lies in between.",
  description:
    "Levels: core (any implementation of the interface), service (what this one adds), deployment (what proxies break),\n" +
    "limits (uses up the minute of PETSTORE_LIMITS_KEY). Deletes the animals that it adds. The exit status is 1 if a\n" +
    "check failed, 2 if the service cannot be reached.",
  example: "verify https://pets.example.com/v1",
  args: ["ADDRESS"],
  variables,
  options: {
    levels: { meaning: "Only these levels, separated by commas.", value: "LEVELS", fallback: levelNames.join() },
    live: { meaning: "Allow a key that is not a test key: animals are added to a live shop." },
    from: { meaning: "A second address of this machine, to see whether clients are told apart.", value: "ADDRESS" },
    category: { meaning: "The category of the animals that are added. Default: 1.", value: "ID" },
  },
  run: async (parsed, context) => {
    const given = read(parsed, context);
    // Loaded here, so that the start of the service does not wait for it.
    const { checksOf, runChecks, Way: Opened } = await import("./run-checks.ts");
    const show = async (text: string) => parsed.json || (await context.output(`${plainLines(text)}\n`));
    const way: Way = new Opened({ ...given, stop: context.stop, say: show });
    if (given.second !== undefined) await reach(way, given.second);
    await reach(way);
    const chosen = Object.entries(checksOf(context.operations)).filter(([name]) => given.levels.includes(name));
    const { outcomes, lost } = await runChecks(Object.fromEntries(chosen), way, show);
    const left = await way.removeAll();
    const animals = `${counted(left, "animal")} could not be deleted: their names begin with ${way.prefix}.`;
    const rest = `${left > 0 ? ` ${animals}` : ""}${context.stop.aborted ? " Interrupted." : ""}`;
    if (lost !== undefined) throw unreachable(`${given.base} no longer answers since check ${lost}.${rest}`);
    const count = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted).length;
    const [passed, failed, skipped] = [count("ok"), count("FAILED"), count("skipped")];
    const text = `${passed} passed, ${failed} failed, ${skipped} skipped.${rest}`;
    const json = { address: given.base, passed, failed, skipped, left, checks: outcomes };
    return { json, text, hasFailed: failed > 0 || context.stop.aborted };
  },
};

/** Rejects, with one sentence, if there is no service at the address, or the key cannot use it. */
async function reach(way: Way, from?: string): Promise<void> {
  const { base } = way.given;
  const { status, headers, json } = await way.exchange({ path: "/pets?limit=1", from }).catch((error: Wrong) => {
    const { code = "" } = error.cause as NodeJS.ErrnoException;
    const certificate = `${error.came} (for an authority of your own, set NODE_EXTRA_CA_CERTS)`;
    if (/CERT|ISSUER|SIGNATURE/.test(code))
      throw unreachable(`The certificate does not fit at ${base}: ${certificate}.`);
    if (code.includes("SSL")) throw unreachable(`The server at ${base} does not accept TLS here.`);
    throw unreachable(`No service answers at ${base}${from === undefined ? "" : ` from ${from}`}: ${error.came}.`);
  });
  const said = typeof json?.message === "string" ? json.message : `status ${status}`;
  const is = `GET ${base}/pets answers ${status} ${headers.get("content-type") ?? "without a type"}`;
  if ([401, 403, 429].includes(status)) throw unreachable(`${base} refuses the key in PETSTORE_KEY: ${said}`);
  if (status >= 500) throw unreachable(`The service at ${base} is not ready: ${said}`);
  const place = headers.get("location")?.replace(/\/pets(\?.*)?$/, "") ?? "an address that it does not name";
  if (status >= 300 && status < 400) throw unreachable(`${base} redirects to ${place}: verify that base address.`);
  if (status !== 200 || json === undefined) throw unreachable(`${base} is not the base address of a petstore: ${is}.`);
}

const unreachable = (message: string) => new CommandFailed("unreachable", message, { status: 2 });
