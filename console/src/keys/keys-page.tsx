import type { CurrentKey, ListedApiKey } from "petstore-client";
import { useState } from "preact/hooks";
import { filterBy, usePlace } from "../router.tsx";
import { useQuery } from "../service/query.ts";
import { useMay, useSession } from "../session/session.ts";
import { ActionButton, AddButton } from "../ui/action-button.tsx";
import { Facts } from "../ui/facts.tsx";
import { Page } from "../ui/page.tsx";
import { RowButton } from "../ui/row-button.tsx";
import { Segments } from "../ui/segments.tsx";
import { Status } from "../ui/status.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { durationOf, numberOf } from "../ui/words.ts";
import { askToRevoke, CONNECT, CreateKey, LimitKey, RotateKey } from "./key-dialogs.tsx";
import { hasEnded, isReplaced, stateOf, useKeys } from "./keys.ts";

type Task = { readonly kind: "create" | "connect" } | { readonly kind: "limit" | "rotate"; readonly of: ListedApiKey };

const views = [
  ["", "In use"],
  ["ended", "Ended"],
] as const;

/** The keys of the account. */
export function Keys() {
  const may = useMay();
  const session = useSession();
  const { key } = session;
  const { query } = usePlace();
  const keys = useKeys();
  const { data } = keys;
  const [task, setTask] = useState<Task>();
  const { view = "" } = query;
  const close = () => setTask(undefined);
  const actions: Column<ListedApiKey> = {
    head: "",
    narrow: "acts",
    cell: (of) => (
      <span class="row-actions">
        {may("updateKey") && <RowButton text="Limit" of={of.name} onClick={() => setTask({ kind: "limit", of })} />}
        {may("rotateKey") && <RowButton text="Rotate" of={of.name} onClick={() => setTask({ kind: "rotate", of })} />}
        {may("revokeKey") && <RowButton text="Revoke" of={of.name} onClick={() => askToRevoke(session, of)} />}
      </span>
    ),
  };
  return (
    <Page
      title="Keys"
      actions={
        may("createKey") && (
          <>
            <ActionButton text={CONNECT} icon="webhooks" onClick={() => setTask({ kind: "connect" })} />
            <AddButton isMain text="Create key" onClick={() => setTask({ kind: "create" })} />
          </>
        )
      }
    >
      <div class="filters" role="search" aria-label="Filters">
        <Segments label="State" choices={views} chosen={view} choose={(chosen) => filterBy({ view: chosen })} />
      </div>
      <Table<ListedApiKey>
        label="Keys"
        items={data?.filter((one) => hasEnded(one) === (view === "ended"))}
        query={keys}
        columns={[
          {
            head: "Name",
            fillsWidth: true,
            narrow: "name",
            cell: (one) => (
              <>
                <bdi class="title">{one.name}</bdi>
                {one.id === key.id && <span class="fine"> your key</span>}
                {isReplaced(one, data ?? []) && <span class="tag calm">Old</span>}
                <code class="fine">{one.hint}</code>
              </>
            ),
          },
          {
            head: "Scopes",
            narrow: "under",
            cell: ({ scopes, limitPerMinute }) => (
              <>
                <span class="one-line">{scopes.join(", ")}</span>
                {limitPerMinute && <span class="fine">{limitPerMinute} a minute</span>}
              </>
            ),
          },
          ...(key.mode === "live" ? [{ head: "Mode", cell: ({ mode }: ListedApiKey) => mode }] : []),
          { head: "Last used", cell: (one) => <LastUse of={one} /> },
          { head: "State", narrow: "end", cell: (one) => <State of={one} /> },
          ...(view === "" ? [actions] : []),
        ]}
        empty={<p>No key has ended yet.</p>}
      />
      <OwnKey />
      {task?.kind === "create" && <CreateKey onClose={close} />}
      {task?.kind === "connect" && <CreateKey isForAssistant onClose={close} />}
      {task?.kind === "limit" && <LimitKey of={task.of} onClose={close} />}
      {task?.kind === "rotate" && <RotateKey of={task.of} onClose={close} />}
    </Page>
  );
}

const LastUse = ({ of: { lastUsedAt } }: { readonly of: ListedApiKey }) =>
  lastUsedAt ? <Time at={lastUsedAt} /> : <>never used</>;

function State({ of }: { readonly of: ListedApiKey }) {
  const state = stateOf(of);
  const { ban, expiresAt, revokedAt } = of;
  const at = state === "banned" ? ban?.endsAt : (revokedAt ?? expiresAt);
  return (
    <>
      <Status of={state} />
      {at && (
        <span class="fine" title={ban?.reason}>
          {state === "valid" && "ends "}
          {state === "banned" && "until "}
          <Time at={at} />
        </span>
      )}
    </>
  );
}

/** How close the session's key is to a ban. */
function OwnKey() {
  const { petstore } = useSession();
  const { data } = useQuery<CurrentKey>("key", () => petstore.getCurrentKey());
  if (!data) return null;
  const { strikes, bans } = data;
  return (
    <section aria-label="Your key">
      <h2>Your key</h2>
      <Facts
        of={[
          ["Strikes", `${numberOf(strikes.count)}, a ban after ${numberOf(strikes.untilBan)} more`],
          ["Its next ban would last", durationOf(bans.next)],
        ]}
      />
    </section>
  );
}
