import { getServers, promises } from "node:dns";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isLocalhost } from "./addresses.ts";

/** How long a name server may take for its first answer, in milliseconds, and how often each is asked. */
const [TIMEOUT, TRIES] = [2_000, 2];
/** The errors of a name server that cannot say whether a name has addresses. */
const refusals = new Set(["EREFUSED", "ESERVFAIL", "ENOTIMP"]);

/**
 * Looks names up as the system is configured now: in its file of hosts, then at its name servers. The system's own
 * `getaddrinfo` would block a thread for as long as a server is silent, and two such names all access to files; c-ares
 * alone reads its configuration only once, and asks no other server after a refusal.
 */
export class SystemNames {
  readonly #folder: string;
  #configuration: string | undefined;
  /** The first asks all servers; each next one leaves out the first server of the one before. */
  #resolvers: readonly promises.Resolver[] = [];

  /** `folder` has the system's configuration. */
  constructor(folder = "/etc") {
    this.#folder = folder;
  }

  /** All addresses of a name; none if it has none. */
  readonly resolve = async (name: string): Promise<readonly string[]> => {
    if (isLocalhost(name)) return ["127.0.0.1", "::1"];
    const [hosts, configuration] = await Promise.all([this.#read("hosts"), this.#read("resolv.conf")]);
    const listed = addressesIn(hosts.toLowerCase(), name);
    if (listed.length > 0) return listed;
    for (const resolver of this.#resolversFor(configuration)) {
      const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const addresses = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
      const isRefused = found.some(
        (one) => one.status === "rejected" && refusals.has((one.reason as { code: string }).code),
      );
      if (addresses.length > 0 || !isRefused) return addresses;
    }
    return [];
  };

  #read(file: string): Promise<string> {
    return readFile(join(this.#folder, file), "utf8").catch(() => ""); // some systems have none
  }

  #resolversFor(configuration: string): readonly promises.Resolver[] {
    if (configuration === this.#configuration) return this.#resolvers;
    this.#configuration = configuration;
    const named = [...configuration.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, server = ""]) => server);
    const servers = named.length > 0 ? named : getServers();
    this.#resolvers = servers.map((_, first) => {
      const resolver = new promises.Resolver({ timeout: TIMEOUT, tries: TRIES });
      resolver.setServers(servers.slice(first));
      return resolver;
    });
    return this.#resolvers;
  }
}

function addressesIn(hosts: string, name: string): string[] {
  if (!hosts.includes(name)) return []; // it may list a million other names
  const lines = hosts.split("\n").map((line) => line.replace(/#.*/, "").trim().split(/\s+/));
  return lines.flatMap(([address = "", ...names]) => (names.includes(name) ? [address] : []));
}
