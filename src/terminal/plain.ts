// What a terminal could interpret, in a text from a file or a client: control characters, and those that change the
// direction of the text around them (Unicode, UAX #9), which then reads as another text.

/** Escapes such characters. */
export function plain(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Like `plain`, for a text that may have lines and tabs, such as JSON. */
export function plainLines(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, plain);
}
