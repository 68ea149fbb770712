import type { Failure } from "../../contract/errors.ts";
import type { Input, Paged } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import { turns } from "../../timing/turns.ts";
import type { CompiledRead } from "../compiled-operation.ts";
import type { Store } from "../interfaces.ts";
import type { Rendered } from "./response.ts";

/** The size of a large item, in bytes. At first, as many items are read as fill the page if they are so large. */
const LARGE = 10 * 1024;
/** How many times the items that it knows a piece may have: the next ones may be larger. */
const GROWTH = 4;
/** About how much text of them is made at once later, in bytes. */
const PIECE = 64 * 1024;

/** True if a page may have more items than one piece of work should read. */
export function isLongPage({ paged }: Operation, { query, pageBytes }: Input): boolean {
  return paged !== undefined && limitOf(query) > firstOf(pageBytes);
}

function firstOf(pageBytes: number): number {
  return Math.ceil(pageBytes / LARGE);
}

function limitOf(query: object): number {
  return (query as { readonly limit: number }).limit;
}

/**
 * Reads a long page in two or more pieces, between which others get their turn: after the first one, as many items as
 * probably fit. So what the page cannot show is hardly read.
 */
export async function readLongPage(compiled: CompiledRead, input: Input, store: Store): Promise<Rendered | Failure> {
  const { caller, pageBytes, query } = input;
  const limit = limitOf(query);
  const pieces: Paged[] = [];
  let [count, size, asked, after] = [0, 0, firstOf(pageBytes), input.after];
  for (;;) {
    const from = after;
    const piece = await store.read(
      compiled.read({ ...input, query: { ...query, limit: asked }, after: from }),
      caller.shop,
    );
    if ("error" in piece) return compiled.render(piece, input);
    const page = piece as Paged;
    const items = page.items as readonly unknown[];
    pieces.push(page);
    count += items.length;
    // A piece with fewer items than it was asked for has scanned as many rows as a page may.
    if (page.next === undefined || items.length < asked || count >= limit) break;
    const whole = () => (compiled.render(page, { ...input, pageBytes: Infinity }) as Rendered).text;
    size += Buffer.byteLength(await turns.run(caller.shop, whole, "first"));
    if (size >= pageBytes) break;
    after = page.next;
    await turns.pause(caller.shop, "first");
    const fitting = 1 + Math.ceil(Math.min(PIECE, pageBytes - size) / (size / count));
    asked = Math.min(limit - count, fitting, GROWTH * count);
  }
  if (pieces.length > 1) await turns.pause(caller.shop, "first");
  return turns.run(caller.shop, () => compiled.render(joined(pieces), input), "first");
}

function joined(pieces: readonly Paged[]): Paged {
  const last = pieces.at(-1) as Paged;
  const ofItems = pieces.flatMap((page) => (page.items as readonly unknown[]).map((_, place) => ({ page, place })));
  return {
    ...last,
    items: pieces.flatMap(({ items }) => items as readonly unknown[]),
    positionAt: (index) => {
      const { page, place } = ofItems[index] as (typeof ofItems)[number];
      return page.positionAt(place);
    },
  };
}
