import { join } from "node:path";
import { domains } from "../../src/app/domains.ts";
import { openApiDocument } from "../../src/app/web/documents.ts";
import { readConfig } from "../../src/config.ts";
import { deriveClient } from "./client.ts";
import { deriveConsole } from "./console.ts";

const root = join(import.meta.dir, "../..");
const bin = (name: string) => join(root, "node_modules/.bin", name);

/** The modules of the client and of the console that are generated from the contract, formatted, by their path in the project. */
export function generatedModules(): Record<string, string> {
  const operations = domains.flatMap((domain) => domain.operations);
  const document = openApiDocument(operations, readConfig({}), "http://petstore.test/v1");
  const modules = Object.entries(deriveClient(operations, document)).map(
    ([name, text]) => [`client/src/${name}`, text] as const,
  );
  return Object.fromEntries(
    [...modules, ["console/src/generated/contract.ts", deriveConsole(operations)] as const].map(([path, text]) => {
      return [path, run([bin("biome"), "check", "--write", `--stdin-file-path=${path}`], text)];
    }),
  );
}

/** Runs a command and returns what it writes. Throws an error if it fails. */
function run(command: string[], input = ""): string {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd: root, stdin: Buffer.from(input) });
  if (!success) throw new Error(`${command.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout.toString();
}
