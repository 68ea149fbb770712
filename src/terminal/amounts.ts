/**
 * A number with its unit, which is given in the singular: `4,096 rows`. For terminals; messages to clients use `count`,
 * without commas.
 */
export function counted(number: number, unit: string): string {
  return `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;
}

/** How long and how fast, in words. */
export function pace(number: number, seconds: number): string {
  const perSecond = Math.round(number / seconds).toLocaleString("en");
  return `in ${seconds.toFixed(1)} s, ${perSecond} a second`;
}
