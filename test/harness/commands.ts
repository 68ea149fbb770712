// Commands of the command line that run inside the test, because starting a process for each would take too long.
import { type ProcessContext, run } from "../../src/cli/run.ts";
import { evidence } from "../leaks/evidence.ts";

/** The output of a command so far. */
interface Said {
  stdout: string;
  stderr: string;
}

/** The context of a command without a process of its own. `folder` is its working directory. */
export function contextOf(
  folder: string,
  environment: Record<string, string | undefined>,
  stop = new AbortController(),
): { context: ProcessContext; said: Said } {
  const said: Said = { stdout: "", stderr: "" };
  const context: ProcessContext = {
    invocation: "petstore",
    folder,
    environment,
    print: (text) => (said.stdout += `${text}\n`),
    printError: (text) => (said.stderr += `${text}\n`),
    input: async function* () {},
    output: async (text) => void (said.stdout += text),
    showStatus: undefined,
    ask: undefined,
    program: [],
    onHangup: () => {},
    stop: stop.signal,
  };
  return { context, said };
}

/** Runs one command line to its end. */
export async function runHere(dataDir: string, words: readonly string[], settings: Record<string, string> = {}) {
  const { context, said } = contextOf(dataDir, { PETSTORE_DATA_DIR: dataDir, ...settings });
  const status = await run(words, context);
  for (const text of Object.values(said)) evidence?.process(words)(text);
  return { status, ...said };
}

/** Runs a command with `--json` that must succeed, and returns its output. */
export async function jsonHere(
  dataDir: string,
  words: readonly string[],
  settings?: Record<string, string>,
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
): Promise<any> {
  const { status, stdout, stderr } = await runHere(dataDir, [...words, "--json"], settings);
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
