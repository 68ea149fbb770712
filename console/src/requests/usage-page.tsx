import type { CurrentKey, LimitWindow, Petstore, UsageCount, UsageInterval } from "petstore-client";
import { useEffect } from "preact/hooks";
import { hasEnded, keyChoices, useKeys } from "../keys/keys.ts";
import { filterBy, Link, usePlace } from "../router.tsx";
import { type QueryResult, useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { Chart } from "../ui/chart.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectFilter } from "../ui/filters.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Segments } from "../ui/segments.tsx";
import { Skeleton, Table } from "../ui/table.tsx";
import { Countdown } from "../ui/time.tsx";
import { numberOf, wordOf } from "../ui/words.ts";
import {
  barsOf,
  byOperation,
  byResult,
  requestsOf,
  results,
  type Span,
  spans,
  startOf,
  withinSpan,
  withOperations,
} from "./usage.ts";

/** How often the figures are read again, in milliseconds. It costs no quota. */
const RELOAD_INTERVAL = 30_000;
const NO_OPERATION = "none";

type Operation = ReturnType<typeof byOperation>[number];

async function readUsage(petstore: Petstore, span: Span, keyId: string | undefined): Promise<UsageInterval[]> {
  const { granularity, count } = span;
  return withinSpan(span, await petstore.getUsage({ granularity, keyId, limit: count }).page());
}

/** The requests of the shop's keys, by time, result and operation. */
export function Usage() {
  const { petstore } = useSession();
  const may = useMay();
  const { data: keys } = useKeys();
  const { span: name = "days", key, operation } = usePlace().query;
  const span = (Object.hasOwn(spans, name) && spans[name]) || spans.days;
  const query = useQuery(`usage?${span.granularity} ${key}`, () => readUsage(petstore, span, key));
  const { data, error, reload } = query;
  useEffect(() => {
    const timer = setInterval(reload, RELOAD_INTERVAL);
    return () => clearInterval(timer);
  }, [span, key]);
  const matches = (one: UsageCount) => !operation || (one.operation ?? NO_OPERATION) === operation;
  const operations = data && byOperation(data);
  return (
    <Page title="Usage">
      <div class="filters" role="search" aria-label="Filters">
        <Segments
          label="Time"
          choices={Object.entries(spans).map(([value, { name: text }]) => [value, text])}
          chosen={name}
          choose={(chosen) => filterBy({ span: chosen === "days" ? "" : chosen })}
        />
        {may("listKeys") && <SelectFilter name="key" label="Key" all="All keys" areNames choices={keyChoices(keys)} />}
        <SelectFilter
          name="operation"
          label="Operation"
          all="All operations"
          choices={(operations ?? []).map(([one]) => [one || NO_OPERATION, one || "No operation"])}
        />
      </div>
      {data ? (
        <div class="card">
          <Chart
            label="Requests over time"
            unit="requests"
            series={results}
            bars={barsOf(span, withOperations(data, matches))}
          />
        </div>
      ) : (
        <Loading of={query} />
      )}
      <Limits />
      {(data || !error) && (
        <section>
          <h2>Operations</h2>
          <Table<Operation>
            label="Requests by operation"
            items={operations}
            keyOf={([one]) => one}
            query={query}
            columns={columns}
            empty={<p>No request was counted in this time.</p>}
          />
        </section>
      )}
      {may("listKeys") && operations?.some(isDeprecated) && <Deprecated span={span} />}
    </Page>
  );
}

/** The rate limit windows of the shop. Reading them costs no quota. */
function Limits() {
  const { petstore } = useSession();
  const { data, error, reload } = useQuery<CurrentKey>("key", () => petstore.getCurrentKey());
  return (
    <section class="card" aria-label="Limits">
      <h2>Limits</h2>
      <ErrorNote error={error} retry={reload} />
      <div class="bars">
        <Bar name="This minute" window={data?.limits.minute} />
        <Bar name="Today (UTC)" window={data?.limits.day} />
      </div>
    </section>
  );
}

function Bar({ name, window }: { readonly name: string; readonly window: LimitWindow | undefined }) {
  if (!window) return <Skeleton width={50} />;
  const { used, limit, reset } = window;
  return (
    <div>
      <p>{`${name}: ${numberOf(used)} of ${numberOf(limit)} requests`}</p>
      <meter min={0} max={limit} value={used} high={limit * 0.9} optimum={0} aria-label={`${name}: requests sent`} />
      <p class="fine">
        Resets in <Countdown until={reset * 1000} />
      </p>
    </div>
  );
}

const isDeprecated = ([, counts]: Operation) => counts.some(({ deprecated }) => deprecated);

const columns = [
  {
    head: "Operation",
    fillsWidth: true,
    narrow: "name" as const,
    cell: (one: Operation) => (
      <>
        {one[0] ? (
          <Link to="/requests" query={{ operation: one[0] }} class="title">
            {one[0]}
          </Link>
        ) : (
          "No operation"
        )}
        {isDeprecated(one) && <span class="tag wait">Deprecated</span>}
      </>
    ),
  },
  {
    head: "Requests",
    isNumber: true,
    narrow: "end" as const,
    cell: ([, counts]: Operation) => numberOf(requestsOf(counts)),
  },
  ...results.map(([name], index) => ({
    head: wordOf(name),
    isNumber: true,
    cell: ([, counts]: Operation) => numberOf(byResult(counts)[index] ?? 0),
  })),
];

/** Which keys still call deprecated operations. Each key costs a request, unless it was not used in the span. */
function Deprecated({ span }: { readonly span: Span }) {
  const { petstore } = useSession();
  const { data: keys } = useKeys();
  const found: QueryResult<[key: string, counts: UsageCount[]][]> = useQuery(
    keys && `usage?deprecated ${span.granularity}`,
    async () => {
      const since = startOf(span) - span.length; // the last use is stored to the minute
      const used = keys?.filter((key) => !hasEnded(key) && Date.parse(key.lastUsedAt ?? "") >= since);
      const all = keyChoices(used).map(async ([keyId, name]): Promise<[key: string, counts: UsageCount[]]> => {
        const intervals = await readUsage(petstore, span, keyId);
        return [name, intervals.flatMap(({ operations }) => operations).filter(({ deprecated }) => deprecated)];
      });
      return (await Promise.all(all)).filter(([, counts]) => counts.length > 0);
    },
  );
  return (
    <section>
      <h2>Deprecated operations by key</h2>
      <Table<[key: string, counts: UsageCount[]]>
        label="Deprecated operations by key"
        keyOf={([name]) => name}
        query={found}
        columns={[
          { head: "Key", fillsWidth: true, narrow: "name", cell: ([name]) => <bdi>{name}</bdi> },
          {
            head: "Operations",
            narrow: "under",
            cell: ([, counts]) => [...new Set(counts.map(({ operation }) => operation))].join(", "),
          },
          { head: "Requests", isNumber: true, narrow: "end", cell: ([, counts]) => numberOf(requestsOf(counts)) },
        ]}
        empty={<p>The keys that called them have ended.</p>}
      />
    </section>
  );
}
