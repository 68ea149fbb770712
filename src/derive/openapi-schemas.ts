/** Collects schemas with a title as named components and refers to them. */
export class Schemas {
  readonly named: Record<string, unknown> = {};

  refer(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((part) => this.refer(part));
    if (typeof schema !== "object" || schema === null) return schema;
    const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, this.refer(part)]));
    const { title } = schema as { title?: unknown };
    if (typeof title !== "string") return parts;
    this.named[title] ??= parts;
    return { $ref: `#/components/schemas/${title}` };
  }
}
