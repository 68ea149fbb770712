import { millisecondsOf } from "../../contract/schemas.ts";
import type { StatusClass } from "./requests.operations.ts";
import type { RecordFilters } from "./requests.statements.ts";

/** The filters of a list as a client sends them. They are already validated. */
interface SentFilters extends Omit<RecordFilters, "statuses" | "since" | "until"> {
  readonly status?: StatusClass | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export function readFilters({ status, since, until, ...others }: SentFilters): RecordFilters {
  const first = Number(status?.[0]) * 100;
  return {
    ...others,
    statuses: status && [first, first + 99],
    since: since === undefined ? undefined : millisecondsOf(since),
    until: until === undefined ? undefined : millisecondsOf(until),
  };
}
