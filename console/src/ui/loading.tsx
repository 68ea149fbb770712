import type { QueryResult } from "../service/query.ts";
import { ErrorNote } from "./error-note.tsx";
import { Skeleton } from "./table.tsx";

/** What is shown of a query without its data: its error, or a placeholder while it is in flight. */
export function Loading({ of: { data, error, reload } }: { readonly of: QueryResult<unknown> }) {
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {data === undefined && !error && <Skeleton width={60} />}
    </>
  );
}
