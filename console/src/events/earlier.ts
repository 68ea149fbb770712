import type { Event, Petstore } from "petstore-client";
import { importPetsMost } from "../generated/contract.ts";
import { MAX_EVENTS } from "../service/live.ts";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";

/** Requests with fewer events are no imports: all of theirs fit into a line. */
const MANY = 10;

/**
 * How many events of the oldest request are not among the latest, because it has made more than a page has: 0 if it has
 * not, undefined while that is not known.
 */
export function useEarlier(latest: readonly Event[] | undefined): number | undefined {
  const { petstore } = useSession();
  const oldest = latest?.at(-1);
  const { requestId } = oldest?.actor ?? {};
  const ofRequest = latest?.filter(({ actor }) => requestId && actor.requestId === requestId).length ?? 0;
  const isCut = oldest !== undefined && (latest?.length ?? 0) >= MAX_EVENTS && ofRequest >= MANY;
  const { data } = useQuery(isCut ? `events/of ${requestId}` : undefined, () => firstOf(petstore, oldest as Event));
  if (!isCut) return 0;
  return data === undefined ? undefined : Number(oldest.id - data);
}

/** The id of the first event of a request, whose events are one after the other, found by halving. */
async function firstOf(petstore: Petstore, { id, actor }: Event): Promise<bigint> {
  let [before, first] = [id - BigInt(importPetsMost), id]; // the first is after `before`, and not after `first`
  if (before < 0n) before = 0n;
  while (first - before > 1n) {
    const middle = (before + first) / 2n;
    const isOfRequest = await petstore.getEvent(middle).then(
      (event) => event.actor.requestId === actor.requestId,
      () => false, // no longer kept
    );
    if (isOfRequest) first = middle;
    else before = middle;
  }
  return first;
}
