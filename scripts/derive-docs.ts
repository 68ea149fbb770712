// Writes the parts of the documentation that are derived from the program. A test compares them.
import { join } from "node:path";
import { settings } from "../src/config.ts";
import { derivedParts, replacePart } from "../src/derive/docs.ts";
import { transitions } from "../src/domains/pets/transitions.ts";
import { domains } from "../src/domains.ts";

const operations = domains.flatMap((domain) => domain.operations);

for (const [file, parts] of Object.entries(derivedParts(operations, settings, transitions))) {
  const path = join(import.meta.dir, "..", file);
  let text = await Bun.file(path).text();
  for (const [name, content] of Object.entries(parts)) text = replacePart(text, name, content);
  await Bun.write(path, text);
}
