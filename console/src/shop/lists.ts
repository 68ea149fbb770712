interface Item {
  readonly id: bigint;
}

/** A page of a list with one item replaced; the same page if it does not list the item. */
export function replaceItem<T extends Item>(page: readonly T[], item: T): readonly T[] {
  const index = page.findIndex(({ id }) => id === item.id);
  if (index < 0) return page;
  return asPage(page.with(index, item), page);
}

/** A page of a list without the item that has the id. */
export function withoutItem<T extends Item>(page: readonly T[], id: bigint): readonly T[] {
  return page.some((item) => item.id === id)
    ? asPage(
        page.filter((item) => item.id !== id),
        page,
      )
    : page;
}

/** New items with the other data of their page. */
function asPage<T>(items: readonly T[], page: readonly T[]): readonly T[] {
  const { next, $response } = page as { next?: unknown; $response?: unknown };
  return Object.assign(items, { next, $response });
}
