import type { Event, EventActor, StoreOrder } from "petstore-client";
import { undoRecorded } from "../importing/import-pets.tsx";
import type { ImportRecord } from "../importing/records.ts";
import { useKeyName } from "../keys/key-name.tsx";
import { useMay, useSession } from "../session/session.ts";
import { moneyOf } from "../ui/money.ts";
import { RowButton } from "../ui/row-button.tsx";
import { Time } from "../ui/time.tsx";
import { countOf, numberOf, wordOf } from "../ui/words.ts";
import { Changes, Subject } from "./event-text.tsx";

/** What somebody did: the events of one request, or those that the service wrote at once. The first says what it was. */
export interface Deed {
  readonly event: Event;
  /** The import of this browser whose animals were added. */
  readonly ofImport?: ImportRecord | undefined;
  /** How many resources it was done to; undefined if that is not known yet. */
  readonly count: number | undefined;
}

/** Verbs of deeds, before and after the name of what they were done to. Orders say more than what they did to animals. */
const verbs: Readonly<Record<string, readonly [before: string, after?: string]>> = {
  "order.confirmed": ["sold"],
  "order.returned": ["took", "back"],
  "order.cancelled": ["released"],
  "order.expired": ["released", "because its reservation ended"],
  "order.placed": ["reserved"],
  "order.updated": ["changed the order of"],
  "shop.updated": ["changed the settings"],
};
const weightOf = ({ type }: Event) => {
  const index = Object.keys(verbs).indexOf(type);
  return index < 0 ? Number.MAX_SAFE_INTEGER : index;
};

const subjects: Readonly<Record<string, string>> = {
  pet: "animal",
  category: "category",
  key: "key",
  webhook_endpoint: "endpoint",
};

/** Nothing is known of imports. */
const noImport = (): ImportRecord | undefined => undefined;

/**
 * Puts events that belong together into one deed each: those of a request, and those of an import of this browser. The
 * events are in the order of the log, in either direction. The last deed may have more of them unless `isWhole`.
 */
export function deedsOf(
  events: readonly Event[],
  importOfEvent: (event: Event) => ImportRecord | undefined = noImport,
  isWhole = true,
): Deed[] {
  const groups: Event[][] = [];
  for (const event of events) {
    const group = groups.at(-1);
    const [other] = group ?? [];
    const record = importOfEvent(event);
    const isOfRequest = other?.actor.requestId
      ? other.actor.requestId === event.actor.requestId
      : other?.at === event.at;
    if (group && (isOfRequest || (record && other && importOfEvent(other) === record))) group.push(event);
    else groups.push([event]);
  }
  return groups.map((group, index) => {
    const [event] = group.toSorted((one, two) => weightOf(one) - weightOf(two)) as [Event];
    const ofImport = importOfEvent(event);
    const listed = group.filter(({ type }) => type === event.type).length;
    const isCut = !isWhole && listed > 1 && index === groups.length - 1;
    return { event, count: ofImport?.count ?? (isCut ? undefined : listed), ofImport };
  });
}

/** Who did it: of a sale, every reader may know. What the service and its operator do otherwise is no key's. */
function useActorName({ kind, keyId }: EventActor, seller: string | undefined): string {
  const name = useKeyName(seller === undefined ? keyId : undefined);
  if (seller !== undefined) return seller;
  if (kind === "system") return "The service";
  if (kind === "operator") return "The operator";
  return name ?? (keyId === undefined ? "A live key" : "Somebody else");
}

const tones = ["good", "wait", "done", "calm"] as const;

/** The first letters of the first two words of a name, in a colour that belongs to it. */
function Initials({ of: name }: { readonly of: string }) {
  const letters = name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => Array.from(word)[0] ?? "");
  const sum = Array.from(name).reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0);
  return (
    <span class={`initials ${tones[sum % tones.length]}`} aria-hidden="true" translate={false}>
      {letters.join("").toUpperCase()}
    </span>
  );
}

function numbered(count: number | undefined, kind: string): string {
  if (count === undefined) return `${kind}s`;
  return kind === "category" ? `${numberOf(count)} categories` : countOf(count, kind);
}

interface DeedLineProps {
  readonly of: Deed;
  /** False on the page of the animal. */
  readonly withSubject?: boolean;
}

/** One line about a deed: who did what to what, and when. */
export function DeedLine({ of: { event, count, ofImport }, withSubject = true }: DeedLineProps) {
  const { key, petstore } = useSession();
  const may = useMay();
  const { type, at, actor, data, subject } = event;
  const { reference, price, seller } = (data ?? {}) as Partial<StoreOrder>;
  const [isSale, isReturn] = [type === "order.confirmed", type === "order.returned"];
  const name = useActorName(actor, isSale ? seller : undefined);
  const [before = wordOf(type.split(".").at(-1) ?? "").toLowerCase(), after] = verbs[type] ?? [];
  const money = price && (isReturn || isSale) && `${isReturn ? "−" : ""}${moneyOf(price)}`;
  const kind = subjects[subject.type] ?? "";
  return (
    <li>
      <Initials of={name} />
      <span class="what">
        <strong>{actor.keyId === key.id || (actor.kind !== "key" && !isSale) ? name : <bdi>{name}</bdi>}</strong>{" "}
        <span>{before} </span>
        {count !== 1 ? (
          <strong>{numbered(count, kind)}</strong>
        ) : (
          <>
            {!verbs[type] && subject.type !== "pet" && <span>the {kind} </span>}
            {subject.type === "shop" ? null : withSubject || subject.type === "category" ? (
              <Subject of={event} />
            ) : (
              "it"
            )}
          </>
        )}
        {after && ` ${after}`}
        {ofImport && (
          <span class="fine">
            {" "}
            · <bdi>{ofImport.file}</bdi>
          </span>
        )}
        {reference !== undefined && count === 1 && (
          <span class="fine">
            {" "}
            · <bdi>{reference}</bdi>
          </span>
        )}
        {count === 1 && <Changes of={event} />}
      </span>
      {ofImport && may("deletePets") && (
        <RowButton text="Undo" of={`the import of ${ofImport.file}`} onClick={() => undoRecorded(petstore, ofImport)} />
      )}
      {money && <strong>{money}</strong>}
      <span class="fine">
        <Time at={at} isShort />
      </span>
    </li>
  );
}
