/** An object whose fields may have no value. */
export type Sparse<T> = { readonly [K in keyof T]: T[K] | null | undefined };

/** The fields that have a value. */
export function present<T extends object>(fields: Sparse<T>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== undefined && one !== null)) as T;
}
