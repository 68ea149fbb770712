/** Escapes control characters, because a terminal could interpret those of a file or of a client. */
export function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
