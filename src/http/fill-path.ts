/** Compiles a path like `/pets/{id}` into a function that fills in values, percent-encoded (RFC 3986). */
export function compilePath(path: string): (values: Readonly<Record<string, unknown>>) => string {
  const parts = path.split(/\{([^}]*)\}/); // fixed text and names by turns
  if (parts.length === 1) return () => path;
  return (values) =>
    parts.map((part, index) => (index % 2 === 0 ? part : encodeURIComponent(String(values[part])))).join("");
}
