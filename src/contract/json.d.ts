/** JSON.parse with source text access and JSON.rawJSON (ES2026), which TypeScript's library types do not have yet. */
interface JSON {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
}
