// What a terminal could interpret, in a text from a file or a client: control characters, and those that change the
// direction of the text around them (Unicode, UAX #9), which then reads as another text.

/** Escapes such characters. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, escaped);
}

/** Like `plain`, for a text that may have lines and tabs, such as JSON. */
export function plainLines(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
