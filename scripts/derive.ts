// Writes what is derived from the program: parts of the documentation, the client and the console. Tests fail if they are
// outdated.
import { join } from "node:path";
import { domains } from "../src/app/domains.ts";
import { openApiDocument } from "../src/app/web/documents.ts";
import { settings as ownSettings } from "../src/config/service-settings.ts";
import { readConfig } from "../src/config.ts";
import { checkDomains, settingsOf } from "../src/domains/domain.ts";
import { logEvents } from "../src/telemetry/log-events.ts";
import { broken, promisesOf } from "../test/document/promises.ts";
import { interopList } from "../test/harness/interop-tools.ts";
import { architectureDiagrams } from "./derive/diagrams.ts";
import { derivedParts, replacePart } from "./derive/docs.ts";
import { generatedModules } from "./derive/generated-files.ts";

const settings = { ...ownSettings, ...settingsOf(domains) };

checkDomains(domains, Object.keys(ownSettings)); // the service does not start with such faults

const operations = domains.flatMap((domain) => domain.operations);

const root = join(import.meta.dir, "..");

const documents = {
  ...derivedParts(settings, logEvents),
  "docs/architecture.md": architectureDiagrams(),
  "docs/interop.md": { interop: interopList() },
};

for (const [file, parts] of Object.entries(documents)) {
  const path = join(root, file);
  let text = await Bun.file(path).text();
  for (const [name, content] of Object.entries(parts)) text = replacePart(text, name, content);
  await Bun.write(path, text);
}

// What clients rely on. A change that breaks it needs --break.
const promises = join(root, "test/document/promises.txt");
const written = (await Bun.file(promises).text()).trim().split("\n");
const promised = promisesOf(openApiDocument(operations, readConfig({}), "http://localhost/v1"));
const breaks = broken(written, promised);
if (breaks.length === 0 || process.argv.includes("--break")) await Bun.write(promises, `${promised.join("\n")}\n`);
else {
  console.error(`This breaks clients. If it must be, run npm run derive -- --break:\n${breaks.join("\n")}`);
  process.exitCode = 1;
}

for (const [path, text] of Object.entries(generatedModules())) await Bun.write(join(root, path), text);
