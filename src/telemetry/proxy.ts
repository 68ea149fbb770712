/**
 * The options of a `fetch` of this address. A proxy of the environment (`HTTP_PROXY`) gets no request for this machine:
 * it could not reach the machine, and would see keys.
 */
export function proxyOptions(url: string | URL): { readonly proxy?: false } {
  const { hostname } = new URL(url);
  return /^(localhost|127\.[0-9.]+|\[::1\])$/.test(hostname) ? { proxy: false } : {};
}
