/** A statement that reads, as it is written in a source file. */
export interface WrittenRead {
  readonly text: string;
  /** True for a text that it can be, whatever is filled in. */
  matches(sql: string): boolean;
}

/** Stands for what is filled in and not known here. */
const ANYTHING = "…";

const oneSpace = (text: string) => text.trim().replaceAll(/\s+/g, " ");

/** The statements of a source file that begin with SELECT or WITH. Constants of the same file are filled in. */
export function readsIn(source: string): WrittenRead[] {
  return statementsIn(source)
    .filter(({ text }) => /^(SELECT|WITH) /.test(text))
    .map(({ text }) => {
      const parts = text.split(ANYTHING).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      const pattern = new RegExp(`^${parts.join(".*")}$`);
      return { text, matches: (sql) => pattern.test(oneSpace(sql)) };
    });
}

/** A statement as it is written in a source file, and the function that makes it. */
export interface WrittenStatement {
  readonly maker: string;
  readonly text: string;
}

/** The statements of a source file. Constants of the same file are filled in. */
export function statementsIn(source: string): WrittenStatement[] {
  const constants = new Map<string, string[]>();
  const literals = (start: RegExp) =>
    [...source.matchAll(start)].map(
      (match) => [match[1] ?? "", literalAt(source, match.index + match[0].length, constants)] as const,
    );
  for (const [name, text] of literals(/const (\w+) =\s+(?=["`])/g))
    constants.set(name, [...(constants.get(name) ?? []), text]);
  const makers = "(statement|lockStatement|lookUp|pageRead|acrossShops)(?:<[^(]*>)?";
  const written = literals(new RegExp(`\\b${makers}\\(\\s*(?=["\`])`, "g")).map(([maker, text]) => ({ maker, text }));
  for (const [, maker = "", name = ""] of source.matchAll(new RegExp(`\\b${makers}\\((\\w+)\\)`, "g")))
    written.push(...(constants.get(name) ?? []).map((text) => ({ maker, text })));
  return written.map(({ maker, text }) => ({ maker, text: oneSpace(text) }));
}

/** The text of the literal that begins at a place. */
function literalAt(source: string, start: number, constants: ReadonlyMap<string, readonly string[]>): string {
  const quote = source[start] as string;
  let text = "";
  for (let at = start + 1; at < source.length && source[at] !== quote; at++) {
    if (quote === "`" && source.startsWith("${", at)) {
      const end = endOfHole(source, at + 2);
      text += constants.get(source.slice(at + 2, end))?.[0] ?? ANYTHING;
      at = end;
    } else text += source[at];
  }
  return text;
}

/** Where the brace is that closes a hole of a template. */
function endOfHole(source: string, start: number): number {
  let depth = 1;
  for (let at = start; at < source.length; at++) {
    if (source[at] === "{") depth++;
    if (source[at] === "}" && --depth === 0) return at;
  }
  return source.length;
}
