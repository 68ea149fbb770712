import { type ListRequestsQuery, Petstore, type RequestRecord } from "petstore-client";
import { KeyName } from "../keys/key-name.tsx";
import { keyChoices, useKeys } from "../keys/keys.ts";
import { filterBy, go, Link, usePlace } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { SelectFilter } from "../ui/filters.tsx";
import { Page } from "../ui/page.tsx";
import { Pager } from "../ui/pager.tsx";
import { Segments } from "../ui/segments.tsx";
import { StatusCode } from "../ui/status.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

const PAGE_SIZE = 50;
const views = [
  ["", "All"],
  ["2xx", "Changes"],
  ["4xx", "Rejected (4xx)"],
  ["5xx", "Failed (5xx)"],
] as const;
const operations = Object.keys(Petstore.prototype)
  .toSorted()
  .map((name) => [name, name] as const);

/** The requests of the shop that failed, and every POST, PATCH and DELETE. */
export function Requests() {
  const { petstore } = useSession();
  const may = useMay();
  const { query } = usePlace();
  const { data: keys } = useKeys();
  const { status, operation, key: keyId, code, cursor } = query;
  const listQuery = { limit: PAGE_SIZE, status, operation, keyId, code, cursor };
  const requests = useQuery(`requests?${JSON.stringify(listQuery)}`, () =>
    petstore.listRequests(listQuery as unknown as ListRequestsQuery).page(),
  );
  return (
    <Page title="Requests" note="Reads that succeeded are left out.">
      <div class="filters" role="search" aria-label="Filters">
        <Segments
          label="Result"
          choices={views}
          chosen={status ?? ""}
          choose={(chosen) => filterBy({ status: chosen, code: undefined })}
        />
        <SelectFilter name="operation" label="Operation" all="All operations" choices={operations} />
        {may("listKeys") && <SelectFilter name="key" label="Key" all="All keys" areNames choices={keyChoices(keys)} />}
        <input
          type="search"
          aria-label="Request id"
          placeholder="Request id"
          onChange={({ currentTarget: { value } }) => value.trim() && go(`/requests/${value.trim()}`)}
        />
        {code && (
          <button type="button" onClick={() => filterBy({ code: undefined })} aria-label={`Remove the filter ${code}`}>
            {code} ×
          </button>
        )}
      </div>
      <Table<RequestRecord>
        label="Requests"
        query={requests}
        columns={[
          { head: "Status", narrow: "end", cell: (request) => <StatusCode of={request.status} /> },
          {
            head: "Request",
            fillsWidth: true,
            narrow: "name",
            cell: (request) => (
              <>
                <Link to={`/requests/${request.id}`} class="title">
                  <code>
                    {request.method} {request.path ?? request.operation}
                  </code>
                </Link>
                {request.code && <span class="fine">{request.code}</span>}
              </>
            ),
          },
          { head: "Key", narrow: "under", cell: (request) => <KeyName id={request.keyId} /> },
          { head: "When", narrow: "below", cell: ({ at }) => <Time at={at} /> },
        ]}
        foot={<Pager next={requests.data?.next} />}
        empty={
          status === "5xx" ? (
            <p>
              No request failed with a 5xx status. Those with a 4xx status are under{" "}
              <Link to="/requests" query={{ status: "4xx" }}>
                Rejected
              </Link>
              .
            </p>
          ) : (
            <p>No request matches the filters. Changes and failures of the last 7 days are listed here.</p>
          )
        }
      />
    </Page>
  );
}
