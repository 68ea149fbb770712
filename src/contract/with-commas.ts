/**
 * A whole number with commas between its thousands: 4,096. For texts that are made at the start, where `toLocaleString`
 * would load the runtime's data about languages, 4 MB.
 */
export function withCommas(number: number): string {
  return String(number).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}
