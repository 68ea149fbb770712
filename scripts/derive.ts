// Writes what is derived from the program: parts of the documentation, the client and the console. Tests fail if they are
// outdated.
import { join } from "node:path";
import { domains } from "../src/app/domains.ts";
import { commandsOf } from "../src/cli/run.ts";
import { settings as ownSettings } from "../src/config.ts";
import { settingsOf } from "../src/domains/domain.ts";
import { transitions } from "../src/domains/pets/transitions.ts";
import { logEvents } from "../src/telemetry/log-events.ts";
import { interopList } from "../test/harness/interop-tools.ts";
import { architectureDiagrams } from "./derive/diagrams.ts";
import { derivedParts, replacePart } from "./derive/docs.ts";
import { generatedModules, typeDeclarations } from "./derive/generated-files.ts";

const commands = commandsOf(domains);
const settings = { ...ownSettings, ...settingsOf(domains) };

const operations = domains.flatMap((domain) => domain.operations);

const root = join(import.meta.dir, "..");

const documents = {
  ...derivedParts(operations, settings, transitions, logEvents, commands),
  "docs/architecture.md": architectureDiagrams(),
  "docs/interop.md": { interop: interopList() },
};

for (const [file, parts] of Object.entries(documents)) {
  const path = join(root, file);
  let text = await Bun.file(path).text();
  for (const [name, content] of Object.entries(parts)) text = replacePart(text, name, content);
  await Bun.write(path, text);
}

for (const [path, text] of Object.entries(generatedModules())) await Bun.write(join(root, path), text);
for (const [path, text] of Object.entries(typeDeclarations())) await Bun.write(join(root, path), text); // generated from the modules above
