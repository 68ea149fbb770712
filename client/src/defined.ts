/** Copies the fields that are not undefined, including one called `__proto__`. */
export function defined(fields: object): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
