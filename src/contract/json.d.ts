/** JSON.parse with source text access (ES2026), which TypeScript's library types do not have yet. */
interface JSON {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}

interface JSON {
  rawJSON(text: string): unknown;
}
