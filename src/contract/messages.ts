/** Adds a full stop, unless the text ends with a question. */
export function sentence(text: string): string {
  return text.endsWith("?") ? text : `${text}.`;
}
