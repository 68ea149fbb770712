/** A reading SQL statement in a source file. */
export interface WrittenRead {
  readonly text: string;
  /** True if the statement can become this SQL when its placeholders are filled in. */
  matches(sql: string): boolean;
}

/** Stands for a placeholder whose value is not known. */
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

/** An SQL statement in a source file, and the function that it is passed to. */
export interface WrittenStatement {
  readonly callee: string;
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
  const callees = "(statement|lockStatement|lookUp|pageRead|acrossShops)(?:<[^(]*>)?";
  const written = literals(new RegExp(`\\b${callees}\\(\\s*(?=["\`])`, "g")).map(([callee, text]) => ({
    callee,
    text,
  }));
  for (const [, callee = "", name = ""] of source.matchAll(new RegExp(`\\b${callees}\\((\\w+)\\)`, "g")))
    written.push(...(constants.get(name) ?? []).map((text) => ({ callee, text })));
  return written.map(({ callee, text }) => ({ callee, text: oneSpace(text) }));
}

/** The text of the literal that begins at a position. */
function literalAt(source: string, start: number, constants: ReadonlyMap<string, readonly string[]>): string {
  const quote = source[start] as string;
  let text = "";
  for (let at = start + 1; at < source.length && source[at] !== quote; at++) {
    if (quote === "`" && source.startsWith("${", at)) {
      const end = endOfPlaceholder(source, at + 2);
      text += constants.get(source.slice(at + 2, end))?.[0] ?? ANYTHING;
      at = end;
    } else text += source[at];
  }
  return text;
}

/** The position of the brace that closes a placeholder of a template literal. */
function endOfPlaceholder(source: string, start: number): number {
  let depth = 1;
  for (let at = start; at < source.length; at++) {
    if (source[at] === "{") depth++;
    if (source[at] === "}" && --depth === 0) return at;
  }
  return source.length;
}
