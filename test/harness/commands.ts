// Commands of the command line that run inside the test, because starting a process for each would take too long.
import { type ProcessContext, run } from "../../src/cli/run.ts";
import { evidence } from "./evidence.ts";

/** What a command has written so far. */
interface CommandOutput {
  stdout: string;
  stderr: string;
}

/** The context of a command without a separate process. `folder` is its working directory. */
export function contextOf(
  folder: string,
  environment: Record<string, string | undefined>,
  stop = new AbortController(),
): { context: ProcessContext; output: CommandOutput } {
  const output: CommandOutput = { stdout: "", stderr: "" };
  const context: ProcessContext = {
    invocation: "petstore",
    folder,
    environment,
    print: (text) => (output.stdout += `${text}\n`),
    printError: (text) => (output.stderr += `${text}\n`),
    input: async function* () {},
    output: async (text) => void (output.stdout += text),
    showStatus: undefined,
    ask: undefined,
    program: [],
    stop: stop.signal,
  };
  return { context, output };
}

/** Runs one command line to its end. */
export async function runInProcess(dataDir: string, words: readonly string[], settings: Record<string, string> = {}) {
  const { context, output } = contextOf(dataDir, { PETSTORE_DATA_DIR: dataDir, ...settings });
  const status = await run(words, context);
  for (const text of Object.values(output)) evidence?.process(words)(text); // test/leaks looks for keys in it
  return { status, ...output };
}

/** Runs a command with `--json` that must succeed, and returns its output. */
export async function runJsonInProcess(
  dataDir: string,
  words: readonly string[],
  settings?: Record<string, string>,
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
): Promise<any> {
  const { status, stdout, stderr } = await runInProcess(dataDir, [...words, "--json"], settings);
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
