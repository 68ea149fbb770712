type Json = Readonly<Record<string, unknown>>;

/** The most that a result may take of an answer of 64 KiB, in bytes. The rest is for the message around it. */
const MAX_RESULT = 63 * 1024;
/** What the note about omitted items takes of it. */
const NOTE = 512;

/** The bytes of a result in an answer, which has it twice: as JSON, and as a text of that JSON. */
function sizeOf(value: unknown): number {
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
}

/**
 * A result that fits into an answer. If the resource `gives` is too large, its lists lose their last items, those of later
 * lists first, and `omitted` says how many. Pages of lists fit already, because tools ask for small ones.
 */
export function fitted(result: Json, gives: string): Json {
  if (sizeOf(result) <= MAX_RESULT) return result;
  const resource = result[gives] as Json;
  const lists = Object.entries(resource).filter((field): field is [string, unknown[]] => Array.isArray(field[1]));
  const kept = { ...resource, ...Object.fromEntries(lists.map(([name]) => [name, [] as unknown[]])) };
  let left = MAX_RESULT - NOTE - sizeOf({ ...result, [gives]: kept });
  const omitted: string[] = [];
  for (const [name, items] of lists) {
    const end = items.findIndex((item) => (left -= sizeOf(item) + 2) < 0); // with its commas
    kept[name] = end < 0 ? items : items.slice(0, end);
    if (end >= 0) omitted.push(`${items.length - end} of ${items.length} ${name}`);
  }
  return { ...result, [gives]: kept, omitted: `Too long: without the last ${omitted.join(", ")}. Ask for less.` };
}
