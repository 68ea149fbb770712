/** One figure of a service's metrics, by its name with labels. `base` is any address of the service. */
export async function metric(base: string, name: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", base))).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  if (line === undefined) throw new Error(`There is no metric ${name}.`);
  return Number(line.slice(name.length + 1));
}
