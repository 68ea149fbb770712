/**
 * Calls `work` for each item, for at most `limit` of them at once. An item that fails does not delay the others. Rejects
 * with the first error when all are done.
 */
export async function fewAtOnce<T>(
  limit: number,
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const errors: unknown[] = [];
  const remaining = Iterator.from(items);
  const workOff = async () => {
    for (let next = remaining.next(); !next.done; next = remaining.next()) {
      try {
        await work(next.value);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, workOff));
  if (errors.length > 0) throw errors[0];
}
