import type { Event } from "petstore-client";
import type { ComponentChildren } from "preact";
import { updatePetBody } from "../generated/contract.ts";
import { Link } from "../router.tsx";
import { useMay } from "../session/session.ts";
import { Time } from "../ui/time.tsx";
import { wordOf } from "../ui/words.ts";
import { Actor } from "./actor.tsx";
import { type Fields, FieldValue } from "./field-value.tsx";
import { PetName } from "./pet-name.tsx";

/** Prefix of the query keys of pages of the log. */
export const EVENT_LOG = "events?page";

/** A type such as `pet.updated` as readable text. It stands before the name of the animal: "Changed Rex". */
export const eventName = (type: string): string => wordOf(type.replace(/^(pet|order)\./, ""));

/** The animal of an event, or of the order that the event is about. */
export function petOf({ subject, data, previous }: Event): bigint | undefined {
  if (subject.type === "pet") return BigInt(subject.id);
  return ((data ?? previous) as { petId?: bigint } | undefined)?.petId;
}

interface EventLineProps {
  readonly of: Event;
  /** False to leave out the animal's name, on its own page. */
  readonly withAnimal?: boolean;
  /** Whether the line links to the page of the event. */
  readonly withLink?: boolean;
}

/** One line about an event: what happened, who did it, and when. */
export function EventLine({ of: event, withAnimal = true, withLink }: EventLineProps) {
  const { type, at, actor, data, previous } = event;
  const petId = petOf(event);
  const { name, url } = (data ?? previous ?? {}) as { name?: string; url?: string };
  const reference = data?.["reference"];
  return (
    <li>
      <span class="what">
        {withLink ? <Link to={`/events/${event.id}`}>{eventName(type)}</Link> : <span>{eventName(type)}</span>}
        {withAnimal && petId !== undefined && (
          <Link to={`/animals/${petId}`}>{typeof name === "string" ? <bdi>{name}</bdi> : <PetName id={petId} />}</Link>
        )}
        {petId === undefined && (
          <Subject of={event}>
            <bdi>{name ?? url ?? event.subject.id}</bdi>
          </Subject>
        )}
        {typeof reference === "string" && <bdi class="fine">{reference}</bdi>}
        {type.endsWith(".updated") && <Changes before={(previous ?? {}) as Fields} after={(data ?? {}) as Fields} />}
      </span>
      <span class="fine">
        <Actor of={actor} />
      </span>
      <Time at={at} />
    </li>
  );
}

/** What an event is about, with a link to its page if it has one. */
function Subject({ of, children }: { readonly of: Event; readonly children: ComponentChildren }) {
  const may = useMay();
  const isEndpoint = of.subject.type === "webhook_endpoint" && may("getWebhookEndpoint");
  return isEndpoint ? <Link to={`/webhooks/${of.subject.id}`}>{children}</Link> : <>{children}</>;
}

/** The changed fields, with their old and new values. */
function Changes({ before, after }: { readonly before: Fields; readonly after: Fields }) {
  return Object.keys(before).map((name) => (
    <span key={name} class="fine">
      {name !== "status" && `${updatePetBody.find((field) => field.name === name)?.label ?? name}: `}
      <FieldValue name={name} value={before[name]} /> → <FieldValue name={name} value={after[name]} />
    </span>
  ));
}
