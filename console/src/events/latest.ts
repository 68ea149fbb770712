import type { Event } from "petstore-client";
import { isLive, latestQuery, MAX_EVENTS } from "../service/live.ts";
import { type QueryResult, useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { type Deed, deedsOf } from "./deeds.tsx";

/** The most events that are read for a few deeds: those of an import, and some before it. */
const MOST_READ = 600;

/** The latest deeds. If the latest events are of fewer, as after an import, those before them are read, too. */
export function useLatest(most: number, importOfEvent: Parameters<typeof deedsOf>[1]): QueryResult<readonly Deed[]> {
  const { petstore } = useSession();
  const query = useQuery(...latestQuery(petstore), isLive.value);
  const { data: latest = [] } = query;
  const isCut = latest.length >= MAX_EVENTS && deedsOf(latest, importOfEvent).length <= most;
  const { data: all } = useQuery(
    isCut ? "events/before" : undefined,
    async () => {
      const read: Event[] = [];
      for await (const event of petstore.listEvents({ sort: "-id", limit: 100 }))
        if (read.push(event) === MOST_READ) break;
      return read;
    },
    isLive.value,
  );
  const before = all?.filter(({ id }) => id < latest.at(-1)!.id) ?? [];
  const isWhole = !isCut || (all !== undefined && all.length < MOST_READ);
  const deeds = deedsOf([...latest, ...before], importOfEvent, isWhole);
  return { ...query, data: query.data && deeds.slice(0, most) };
}
