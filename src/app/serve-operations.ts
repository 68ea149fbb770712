import type { Config } from "../config.ts";
import type { Caller } from "../contract/caller.ts";
import { type Failure, failure, invalidApiKey, sandboxWasReset, storageUnavailable } from "../contract/errors.ts";
import type { BoundOperation } from "../contract/handler.ts";
import type { Operation } from "../contract/operation.ts";
import { derivePaths } from "../contract/operation-properties.ts";
import { mayHoldKey } from "../domains/keys/api-key.ts";
import { ShopDeleted, shopOf } from "../domains/shops/shops.store.ts";
import { Api, type ApiServices } from "../http/api.ts";
import { type CompiledOperation, compileOperation, type LinkTargets } from "../http/compiled-operation.ts";
import type { Route } from "../http/exchange.ts";
import { ClientAddresses } from "../http/input/client-address.ts";
import { pathAdvice } from "../http/input/path-advice.ts";
import { type MonitoringOptions, monitoringContent } from "../http/monitoring.ts";
import { Server } from "../http/server.ts";
import { agentEndpoint } from "../mcp/endpoint.ts";
import { StorageUnavailable } from "../storage/errors.ts";
import type { Storage } from "../storage/storage.ts";
import { baseAddress, docsAddress, rootOf } from "./web/base-address.ts";
import { webConsole } from "./web/console.ts";
import { documentContent, pageProtection, startingLinks } from "./web/documents.ts";

/** What requests need from the service besides their operations. */
interface ServerContext {
  readonly storage: Storage;
  /** See `generationOf`. */
  readonly generation: string;
  readonly services: Omit<ApiServices, "addresses" | "paths" | "logsAddresses" | "mayHoldKey" | "failureFor">;
  readonly monitoring: Omit<MonitoringOptions, "clock">;
}

/**
 * Listens, and serves the operations and everything derived from them. Returns the server, its base address and that of
 * the reference page, as clients see them, and what builds the console. Throws `ListenError`.
 */
export function serveOperations(
  config: Config,
  bound: readonly BoundOperation[],
  { storage, generation, services, monitoring }: ServerContext,
) {
  const operations = bound.map(({ operation }) => operation);
  const server = new Server(config);
  const base = baseAddress(config, config.host, server.port);
  const basePath = new URL(base).pathname;
  const root = rootOf(basePath);
  const docs = docsAddress(base);
  const { content: consoleContent, prepare: prepareConsole } = webConsole(root, pageProtection);
  const addresses = new ClientAddresses(config.trustedProxies, config.host);
  const content = new Map([
    ...documentContent(operations, config, base, root),
    ...consoleContent,
    ...monitoringContent({ ...monitoring, clock: services.clock }),
  ]);
  const agents = `${root}/mcp`;
  const others = new Map(
    [...content.keys(), agents]
      .filter((path) => !path.endsWith("*"))
      .map((path) => [path, otherNames[path.slice(root.length)] ?? []]),
  );
  const paths = pathAdvice(basePath, operations, others, `${root}/docs`);
  const { logAddresses: logsAddresses } = config;
  const api = new Api(
    { ...services, addresses, paths, logsAddresses, mayHoldKey, failureFor: failureForError(storage) },
    base,
  );
  const routes = compileRoutes(bound, operations, { base, docs, cursorSecret: generation });
  const serveAgents = agentEndpoint({ ...services, api, routes, operations, base });
  server.serve({
    api,
    basePath,
    baseLinks: startingLinks(root),
    routes,
    content,
    endpoints: new Map([agents, `${agents}/`].map((path) => [path, serveAgents])),
    paths,
    onError: (error) => services.log.failing("request_failed", error, {}),
  });
  return { server, base, docs, prepareConsole };
}

/** What paths outside the base address are called at other services. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  "/docs": ["/swagger", "/swagger-ui", "/redoc", "/api-docs", "/documentation", "/reference", "/help"],
  "/openapi.json": ["/swagger.json", "/openapi", "/schema"],
  "/console": ["/admin", "/dashboard", "/login", "/signin", "/ui"],
  "/healthz": ["/ping", "/status", "/alive"],
};

function failureForError(storage: Storage): ApiServices["failureFor"] {
  return (error, caller, isWrite) => {
    if (!(error instanceof StorageUnavailable)) return undefined;
    return error instanceof ShopDeleted && caller ? failureForDeletedShop(storage, caller, isWrite) : unavailable();
  };
}

/** A reset has given the sandbox another shop, or its account was deleted, and so its keys. */
async function failureForDeletedShop(
  storage: Storage,
  { accountId, mode }: Caller,
  isWrite: boolean,
): Promise<Failure> {
  try {
    if ((await storage.read(shopOf(accountId, mode))) === undefined) {
      return failure(invalidApiKey, "The account of the API key was deleted.");
    }
  } catch {
    return unavailable();
  }
  // Only a change locks the sandbox, so only a change can wait for a reset.
  return isWrite
    ? failure(sandboxWasReset, "The sandbox was reset while the request was waiting. Nothing was done.")
    : unavailable();
}

function unavailable(): Failure {
  return failure(storageUnavailable, "The store is temporarily unavailable. A change may or may not have been made.");
}

function compileRoutes(
  bound: readonly BoundOperation[],
  operations: readonly Operation[],
  targets: LinkTargets,
): Map<string, Route> {
  const compiled = new Map(bound.map((one) => [one.operation, compileOperation(one, operations, targets)]));
  return new Map(
    derivePaths(operations).map(({ pattern, methods, allow }) => [
      pattern,
      {
        methods: new Map(
          [...methods].map(([method, operation]) => [method, compiled.get(operation) as CompiledOperation]),
        ),
        allow,
      },
    ]),
  );
}
