import { browserZone, useZone } from "./days.ts";

/** The time zone whose days are meant, where it is not that of the browser. */
export function ZoneNote() {
  const zone = useZone();
  return zone && zone !== browserZone() ? <span>{`Days of ${zone}`}</span> : null;
}
