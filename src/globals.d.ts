/** What the library types of TypeScript still refuse: JSON.parse with source text (ES2026). */
interface JSON {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}

interface JSON {
  rawJSON(text: string): unknown;
}
