// Writes the parts of the documentation that are derived from the program. A test compares them.
import { join } from "node:path";
import { domains } from "../src/app/domains.ts";
import { commandsOf } from "../src/cli/run.ts";
import { settings as ownSettings } from "../src/config.ts";
import { derivedParts, replacePart } from "../src/derive/docs.ts";
import { settingsOf } from "../src/domains/domain.ts";
import { transitions } from "../src/domains/pets/transitions.ts";
import { events } from "../src/telemetry/events.ts";
import { architectureDiagrams } from "../test/harness/diagrams.ts";
import { interopTable } from "../test/harness/interop-tools.ts";
import { tierTable } from "../test/runner/tiers.ts";

const commands = commandsOf(domains);
const settings = { ...ownSettings, ...settingsOf(domains) };

const operations = domains.flatMap((domain) => domain.operations);

const root = join(import.meta.dir, "..");

const documents = {
  ...derivedParts(operations, settings, transitions, events, commands),
  "docs/architecture.md": architectureDiagrams(),
  "docs/interop.md": { interop: interopTable() },
  "docs/tests.md": { tiers: tierTable(root) },
};

for (const [file, parts] of Object.entries(documents)) {
  const path = join(root, file);
  let text = await Bun.file(path).text();
  for (const [name, content] of Object.entries(parts)) text = replacePart(text, name, content);
  await Bun.write(path, text);
}
