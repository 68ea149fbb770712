/** An amount with its noun: `1 second`, `2 seconds`. */
export function count(amount: unknown, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

/** Adds a full stop, unless the text ends with a question. */
export function sentence(text: string): string {
  return text.endsWith("?") ? text : `${text}.`;
}
