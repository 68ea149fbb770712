import { eventually } from "./program.ts";

/** The metrics of a service as it serves them. `base` is any address of the service. */
export async function metricsText(base: string): Promise<string> {
  return (await fetch(new URL("/metrics", base))).text();
}

/** One figure of a service's metrics, by its name with labels; 0 for labels that its counter has not seen. */
export async function metric(base: string, name: string): Promise<number> {
  const text = await metricsText(base);
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  if (line !== undefined) return Number(line.slice(name.length + 1));
  if (!text.includes(`\n# TYPE ${name.split("{", 1)[0]} counter\n`)) throw new Error(`There is no metric ${name}.`);
  return 0;
}

/** Waits until a figure has this value. */
export async function untilMetric(base: string, name: string, value: number): Promise<void> {
  await eventually(
    () => metric(base, name),
    (found) => found === value,
  );
}

/** Waits until this number of requests wait for the store. */
export const untilWaiting = (base: string, count: number) => untilMetric(base, "petstore_requests_waiting", count);
