/** An amount with its noun: `1 second`, `2 seconds`. */
export function count(amount: unknown, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

/** Adds a full stop, unless the text ends with a question. */
export function sentence(text: string): string {
  return text.endsWith("?") ? text : `${text}.`;
}

/**
 * A whole number with commas between its thousands: 4,096. For texts that are made at the start, where `toLocaleString`
 * would load the runtime's data about languages, 4 MB.
 */
export function withCommas(number: number): string {
  return String(number).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}
