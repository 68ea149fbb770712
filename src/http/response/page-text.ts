import type { TSchema } from "typebox";
import { compileSerializer } from "../../contract/serialize.ts";
import { itemsOf } from "../../contract/validators.ts";

/**
 * Compiles the schema of a list into a function that writes the first items as JSON, up to a number of bytes, but at
 * least one. It returns the text and the number of items.
 */
export function compilePageText(schema: TSchema) {
  const serialize = compileSerializer(schema);
  const serializeItem = compileSerializer(itemsOf(schema) as TSchema);
  return (items: readonly unknown[], bytes: number) => {
    const whole = serialize(items); // faster than item by item, and nearly every page fits
    if (isWithin(whole, bytes)) return { text: whole, count: items.length };
    const texts: string[] = [];
    let size = 1;
    for (const item of items) {
      const text = serializeItem(item);
      size += Buffer.byteLength(text) + 1;
      if (size > bytes && texts.length > 0) break;
      texts.push(text);
    }
    return { text: `[${texts.join(",")}]`, count: texts.length };
  };
}

function isWithin(text: string, bytes: number): boolean {
  return text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes; // UTF-8 has at most 3 bytes for a UTF-16 unit
}
