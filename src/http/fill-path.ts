/** Compiles a path like `/pets/{id}` into a function that fills in values, percent-encoded (RFC 3986). */
export function compileFillPath(path: string): (values: Readonly<Record<string, unknown>>) => string {
  const parts = path.split(/\{([^}]*)\}/); // alternates fixed text and names
  if (parts.length === 1) return () => path;
  return (values) => {
    let filled = parts[0] as string;
    for (let index = 1; index < parts.length; index += 2) {
      filled += encodeURIComponent(String(values[parts[index] as string])) + (parts[index + 1] as string);
    }
    return filled;
  };
}
