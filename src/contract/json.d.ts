/** What the library types of TypeScript still refuse: JSON.parse with source text (ES2026). */
interface JSON {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}

interface JSON {
  rawJSON(text: string): unknown;
}

/** The path of the reference page's script, imported as a file. */
declare module "*/browser/standalone.js" {
  const path: string;
  export default path;
}
