import type { Event, EventActor, StoreOrder } from "petstore-client";
import { useKeyName } from "../keys/key-name.tsx";
import { useSession } from "../session/session.ts";
import { moneyOf } from "../ui/money.ts";
import { Time } from "../ui/time.tsx";
import { countOf, numberOf, wordOf } from "../ui/words.ts";
import { Changes, Subject } from "./event-text.tsx";

/** What somebody did: the events of one request, or those that the service wrote at once. The first says what it was. */
export interface Deed {
  readonly event: Event;
  /** How many resources it was done to. */
  readonly count: number;
}

/** Verbs of deeds, before and after the name of what they were done to. Orders say more than what they did to animals. */
const verbs: Readonly<Record<string, readonly [before: string, after?: string]>> = {
  "order.confirmed": ["sold"],
  "order.returned": ["took", "back"],
  "order.cancelled": ["released"],
  "order.expired": ["released", "because its reservation ended"],
  "order.placed": ["reserved"],
  "order.updated": ["changed the order of"],
  "pets.reassigned": ["moved animals of"],
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

/** Puts events that belong together into one deed each. The events are in the order of the log, in either direction. */
export function deedsOf(events: readonly Event[]): Deed[] {
  const groups: Event[][] = [];
  for (const event of events) {
    const group = groups.at(-1);
    const [other] = group ?? [];
    const isSame = other?.actor.requestId ? other.actor.requestId === event.actor.requestId : other?.at === event.at;
    if (group && isSame) group.push(event);
    else groups.push([event]);
  }
  return groups.map((group) => {
    const [event] = group.toSorted((one, two) => weightOf(one) - weightOf(two)) as [Event];
    return { event, count: group.filter(({ type }) => type === event.type).length };
  });
}

/** Who did it: of a sale, every reader may know. What the service and its operator do otherwise is no key's. */
function useActorName({ kind, keyId }: EventActor, seller: string | undefined): string {
  const name = useKeyName(seller === undefined ? keyId : undefined);
  if (seller !== undefined) return seller;
  if (kind === "system") return "The service";
  if (kind === "operator") return "The operator";
  return name ?? (keyId === undefined ? "A live key" : "Another key");
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

interface DeedLineProps {
  readonly of: Deed;
  /** False on the page of the animal. */
  readonly withSubject?: boolean;
}

/** One line about a deed: who did what to what, and when. */
export function DeedLine({ of: { event, count }, withSubject = true }: DeedLineProps) {
  const { key } = useSession();
  const { type, at, actor, data, subject } = event;
  const { reference, price, confirmedBy } = (data ?? {}) as Partial<StoreOrder>;
  const [isSale, isReturn] = [type === "order.confirmed", type === "order.returned"];
  const name = useActorName(actor, isSale ? confirmedBy?.name : undefined);
  const [before = wordOf(type.split(".").at(-1) ?? "").toLowerCase(), after] = verbs[type] ?? [];
  const money = price && (isReturn || isSale) && `${isReturn ? "−" : ""}${moneyOf(price)}`;
  const kind = subjects[subject.type] ?? "";
  return (
    <li>
      <Initials of={name} />
      <span class="what">
        <strong>{actor.keyId === key.id || (actor.kind !== "key" && !isSale) ? name : <bdi>{name}</bdi>}</strong>{" "}
        <span>{before} </span>
        {count > 1 ? (
          <strong>{kind === "category" ? `${numberOf(count)} categories` : countOf(count, kind)}</strong>
        ) : (
          <>
            {!verbs[type] && subject.type !== "pet" && <span>the {kind} </span>}
            {withSubject || subject.type === "category" ? <Subject of={event} /> : "it"}
          </>
        )}
        {after && ` ${after}`}
        {reference !== undefined && (
          <span class="fine">
            {" "}
            · <bdi>{reference}</bdi>
          </span>
        )}
        {count === 1 && <Changes of={event} />}
      </span>
      {money && <strong>{money}</strong>}
      <span class="fine">
        <Time at={at} isShort />
      </span>
    </li>
  );
}
