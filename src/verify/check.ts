import type { Way } from "./way.ts";

export * from "./came.ts";
export type { Way };

/** What helps with several checks. */
export const help = {
  calls: "docs/first-calls.md",
  errors: "docs/errors.md; the proxy must not replace errors (nginx: proxy_intercept_errors off)",
  limits: "docs/limits.md",
  asIs: "the proxy must pass on addresses, headers and bodies as they are",
  streams: "nginx: proxy_buffering off, proxy_read_timeout 20s or more",
} as const;

/**
 * One thing that a deployment must do. `proves`: a clause. `advice` says what helps if it fails: a page, or a setting of
 * proxies. `run` rejects with `Wrong` or `Skipped`.
 */
export const check = (name: string, proves: string, advice: string, run: (way: Way) => unknown) =>
  ({ name, proves, advice, run }) as const;
export type Check = ReturnType<typeof check>;
