/** A page of a list. `next` is the position after which the next page starts; absent on the last page. */
export interface Page<T, P = bigint> {
  readonly items: T[];
  readonly next?: P;
}

/** Makes a page of up to `limit` items. One more row than that means that another page follows. */
export function pageOf<R, T, P>(
  found: readonly R[],
  limit: number,
  show: (row: R) => T,
  positionOf: (last: R) => P,
): Page<T, P> {
  const rows = found.slice(0, limit);
  const items = rows.map((row) => show(row));
  const last = rows.at(-1);
  return found.length > limit && last !== undefined ? { items, next: positionOf(last) } : { items };
}
