// Writes the parts of the documentation that are derived from the program. A test compares them.
import { join } from "node:path";
import { domains } from "../src/app.ts";
import { settings } from "../src/config.ts";
import { derivedParts, replacePart } from "../src/derive/docs.ts";

const operations = domains.flatMap((domain) => domain.operations);

for (const [file, parts] of Object.entries(derivedParts(operations, settings))) {
  const path = join(import.meta.dir, "..", file);
  let text = await Bun.file(path).text();
  for (const [name, content] of Object.entries(parts)) text = replacePart(text, name, content);
  await Bun.write(path, text);
}
