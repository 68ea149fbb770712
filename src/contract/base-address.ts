/**
 * The address or path above a base address, which ends with `/v1`. Documents and the console are below it. The pages
 * for monitoring are at the root of the host.
 */
export function rootOf(base: string): string {
  return base.slice(0, -"/v1".length);
}
