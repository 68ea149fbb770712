/**
 * The address or path above a base address, which ends with `/v1`. Documents, the console and the health checks are
 * below it.
 */
export function rootOf(base: string): string {
  return base.slice(0, -"/v1".length);
}
