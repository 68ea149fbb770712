import type { RequestRecord } from "petstore-client";
import { KeyName } from "../keys/key-name.tsx";
import { Link } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { FaultList } from "../ui/error-note.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { ReferenceLink } from "../ui/reference-link.tsx";
import { StatusCode } from "../ui/status.tsx";
import { Time } from "../ui/time.tsx";
import { numberOf } from "../ui/words.ts";
import { curlOf } from "./curl.ts";

/** One request: what arrived, the result and its reason, and what to do. */
export function RequestPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { petstore } = useSession();
  const id = params["requestId"] ?? "";
  const query = useQuery<RequestRecord>(`requests/${id}`, () => petstore.getRequest(id));
  const { data } = query;
  return (
    <Page title={data ? `${data.method} ${data.path ?? data.operation ?? ""}` : "Request"}>
      <Loading of={query} />
      {data && <Outcome of={data} />}
      {data && <RequestFacts of={data} />}
      {data?.path && <CodeBlock title="As curl" text={curlOf(data)} what="command" />}
      {data && <p class="fine">Bodies, queries and the text of keys are not recorded. Add what the request needs.</p>}
    </Page>
  );
}

function Outcome({ of: { code, stage, explanation, advice, details } }: { readonly of: RequestRecord }) {
  return (
    <div class={code ? "note bad" : "note"} role="region" aria-label="What happened">
      <p>
        <strong>{details?.length && stage !== "simulate" ? "The input is invalid:" : explanation}</strong>
      </p>
      <FaultList of={details} />
      {advice && <p>{advice}</p>}
    </div>
  );
}

function RequestFacts({ of }: { readonly of: RequestRecord }) {
  const { id, clientRequestId, at, operation, keyId, address, status, durationMs, limit, remaining, code, stage } = of;
  return (
    <Facts
      of={[
        ["Status", <StatusCode of={status} />],
        [
          "Error",
          code && (
            <Link to="/requests" query={{ code }}>
              <code>{code}</code>
            </Link>
          ),
        ],
        ["Stage", stage && <code>{stage}</code>],
        ["Operation", operation && <ReferenceLink of={operation} />],
        ["When", <Time at={at} />],
        ["Took", `${numberOf(durationMs)} ms`],
        ["Key", <KeyName id={keyId} />],
        ["From", address],
        [
          "Requests left",
          limit !== undefined && remaining !== undefined ? `${numberOf(remaining)} of ${numberOf(limit)}` : undefined,
        ],
        ["Request id", <code>{id}</code>],
        ["Client's request id", clientRequestId && <bdi>{clientRequestId}</bdi>],
      ]}
    />
  );
}
