import { stringify } from "petstore-client";
import { Link } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Facts } from "../ui/facts.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { Actor } from "./actor.tsx";
import { eventName } from "./event-text.tsx";

/** One event: who did what to which resource, and its values before and after. */
export function EventPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { petstore } = useSession();
  const id = params["eventId"] ?? "";
  const query = useQuery(`events/${id}`, () => petstore.getEvent(id as unknown as bigint));
  const { data } = query;
  if (!data) {
    return (
      <Page title={`Event ${id}`}>
        <Loading of={query} />
      </Page>
    );
  }
  const { type, at, actor, subject, previous, data: after } = data;
  const { requestId } = actor;
  const subjectText = `${subject.type} ${subject.id}`;
  return (
    <Page title={`Event ${id}`}>
      <Facts
        of={[
          ["What", eventName(type)],
          ["Type", <code>{type}</code>],
          ["When", <Time at={at} />],
          ["Who", <Actor of={actor} />],
          ["Subject", subject.type === "pet" ? <Link to={`/animals/${subject.id}`}>{subjectText}</Link> : subjectText],
          ["Request", requestId && <Link to={`/requests/${requestId}`}>{requestId}</Link>],
        ]}
      />
      {previous && <CodeBlock title="Before" text={stringify(previous, 2)} what="state before" />}
      {after && <CodeBlock title="After" text={stringify(after, 2)} what="state after" />}
    </Page>
  );
}
