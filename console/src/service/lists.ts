interface Item {
  readonly id: bigint;
}

/**
 * A page of a list with the item that has the id replaced, or without it if nothing replaces it; the same page if it does
 * not list the item.
 */
export function replaceItem<T extends Item>(page: readonly T[], id: bigint, ...by: T[]): readonly T[] {
  const index = page.findIndex((item) => item.id === id);
  if (index < 0) return page;
  const { next } = page as { next?: unknown };
  return Object.assign(page.toSpliced(index, 1, ...by), { next });
}
