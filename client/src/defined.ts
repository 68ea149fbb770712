/** The fields that are not undefined. A field called `__proto__` stays a field. */
export function defined(fields: object): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
