import { join } from "node:path";
import { suite } from "./suite.ts";

/** A program that writes the name of each test that passed, and the error of any other. */
const program = `
import * as client from "SRC/index.ts";
import { suite } from "TEST/suite.ts";
async function runSuite() {
  for (const [name, test] of Object.entries(suite)) {
    await Promise.resolve({ client, ...CONTEXT }).then(test).then(
      () => console.log("passed", name),
      (error) => console.log("failed", name, String(error?.stack ?? error)),
    );
  }
  console.log("done");
}
`;

/** How a platform runs a program: as a script, or as a worker of workerd, which runs `test`. */
const starts = { script: "await runSuite();", worker: "export default { test: runSuite };" };

/** The suite and the client as one module that needs nothing else. */
export async function suiteProgram(
  context: { readonly key: string; readonly baseUrl: string },
  kind: keyof typeof starts = "script",
): Promise<string> {
  const text = (program + starts[kind])
    .replace("SRC", join(import.meta.dir, "../src"))
    .replace("TEST", import.meta.dir)
    .replace("CONTEXT", JSON.stringify(context));
  const { outputs } = await Bun.build({
    entrypoints: ["/program.ts"],
    files: { "/program.ts": text },
    format: "esm",
    target: "browser",
  });
  return (outputs[0] as Blob).text();
}

/** The lines of the program's output that do not report a passed test. Throws unless the program ran to its end. */
export function failuresOf(output: string): string[] {
  const lines = output.trim().split("\n");
  if (lines.pop() !== "done") throw new Error(`The suite did not end:\n${output}`);
  const count = Object.keys(suite).length;
  if (lines.length < count) throw new Error(`The suite ran ${lines.length} of ${count} tests.`);
  return lines.filter((line) => !line.startsWith("passed "));
}
