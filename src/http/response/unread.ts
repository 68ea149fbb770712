/** How many bytes clients may leave unread in total before the shops that leave most get no more. */
const MAX_UNREAD = 32 * 1024 * 1024;

/** What clients have not read yet of large bodies and streams: of each shop, and of all. */
const unreadOf = new Map<number, number>();
let unread = 0;

/** Counts bytes for a shop until it calls this again with as many less. */
export function addUnread(shop: number, bytes: number): void {
  unread += bytes;
  const ofShop = (unreadOf.get(shop) ?? 0) + bytes;
  if (ofShop === 0) unreadOf.delete(shop);
  else unreadOf.set(shop, ofShop);
}

/** True if too much is unread, and the shop has left at least the average. */
export function leavesTooMuchUnread(shop: number): boolean {
  return unread > MAX_UNREAD && (unreadOf.get(shop) ?? 0) >= unread / unreadOf.size;
}
