import { join } from "node:path";
import { contextPeers, type RunningServer, type ServerName, startServer, unavailableReason } from "./peers.ts";
import type { Environment } from "./processes.ts";
import type { Dialect } from "./requests.ts";
import { alternate, contestant, type Series } from "./rounds.ts";
import type { SeededStore } from "./seed.ts";
import type { Bench } from "./workload.ts";
import { type Request, writeLoad } from "./wrk.ts";

/** Connections that put load on a server, unless a workload sets another number. */
export const CONNECTIONS = 64;

/** Servers that run at the same time, each on a copy of the same store. */
export interface Fleet {
  readonly store: SeededStore;
  readonly servers: readonly RunningServer[];
  /** Servers that could not be started, and why. */
  readonly notes: readonly string[];
}

/** Starts the servers that this machine can run. */
export async function startFleet(
  { options, processes, folder }: Bench,
  store: SeededStore,
  names: readonly ServerName[],
  settings: Environment = {},
): Promise<Fleet> {
  const servers: RunningServer[] = [];
  const notes: string[] = [];
  for (const name of names) {
    const isSkipped = contextPeers.includes(name) && options.effort.contextRounds === 0;
    const reason = isSkipped ? "the short mode has no time for it" : unavailableReason(name);
    if (reason) {
      notes.push(`${name} was left out: ${reason}.`);
      continue;
    }
    const [model] = servers;
    const place = { processes, folder: join(folder, name.replaceAll(/\W/g, "-")), service: options.service, store };
    servers.push(await startServer(name, { ...place, settings, ...(model && { model }) }));
  }
  return { store, servers, notes };
}

export async function stopFleet({ processes }: Bench, { servers }: Pick<Fleet, "servers">): Promise<void> {
  await Promise.all(servers.map(({ process }) => processes.stop(process)));
}

/** Puts the same load on each server of a fleet, in alternating rounds. */
export function compareServers(
  { options: { effort }, processes, folder }: Bench,
  { servers, store }: Fleet,
  requests: (dialect: Dialect) => readonly Request[],
  connections = CONNECTIONS,
): Promise<Series[]> {
  return alternate(
    servers.map((server) => {
      const file = join(folder, `${server.name.replaceAll(/\W/g, "-")}.txt`);
      const load = writeLoad(file, requests(server.dialect), store.keys[0] ?? "", connections);
      const rounds = contextPeers.includes(server.name) ? effort.contextRounds : effort.rounds;
      return contestant(server.name, processes, server, load, { ...effort, rounds });
    }),
  );
}
