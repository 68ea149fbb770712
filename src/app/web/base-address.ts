import type { Config } from "../../config.ts";

/** The setting that has the base address of the environment. */
export function baseSetting({ environment }: Config): "PETSTORE_BASE_URL" | "PETSTORE_STAGING_BASE_URL" {
  return environment === "staging" ? "PETSTORE_STAGING_BASE_URL" : "PETSTORE_BASE_URL";
}

/** The value of that setting; undefined if it is unset. */
export function configuredBase({ environment, baseUrl, stagingBaseUrl }: Config): string | undefined {
  return environment === "staging" ? stagingBaseUrl : baseUrl;
}

/** The base address, as clients see it, of a process that listens on this host and port. */
export function baseAddress(config: Config, host: string, port: number): string {
  const configured = configuredBase(config);
  if (configured) return configured;
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}/v1`;
}

/** The address of the reference page of the service with this base address. */
export function docsAddress(base: string): string {
  return `${rootOf(base)}/docs`;
}

/**
 * The address or path above a base address, which ends with `/v1`. Documents and the console are below it. The pages
 * for monitoring are at the root of the host.
 */
export function rootOf(base: string): string {
  return base.slice(0, -"/v1".length);
}
