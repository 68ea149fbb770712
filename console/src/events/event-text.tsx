import type { Event } from "petstore-client";
import { PetName } from "../animals/pet-name.tsx";
import { updatePetBody } from "../generated/contract.ts";
import { Link } from "../router.tsx";
import { useMay } from "../session/session.ts";
import { Time } from "../ui/time.tsx";
import { wordOf } from "../ui/words.ts";
import { Actor } from "./actor.tsx";
import { type Fields, FieldValue } from "./field-value.tsx";

/** Prefix of the query keys of pages of the log. */
export const EVENT_LOG = "events?page";

/** A type such as `pet.updated` as readable text. It stands before the name of the animal: "Changed Rex". */
export const eventName = (type: string): string => wordOf(type.replace(/^(pet|order)\./, ""));

/** The animal of an event, or of the order that the event is about. */
export function petOf({ subject, data, previous }: Event): bigint | undefined {
  if (subject.type === "pet") return BigInt(subject.id);
  return ((data ?? previous) as { petId?: bigint } | undefined)?.petId;
}

/** One line about an event: what happened, who did it, and when. */
export function EventLine({ of: event }: { readonly of: Event }) {
  const { type, at, actor, data } = event;
  const { reference } = (data ?? {}) as { reference?: string };
  return (
    <li>
      <span class="what">
        <Link to={`/events/${event.id}`}>{eventName(type)}</Link> <Subject of={event} />
        {reference !== undefined && <bdi class="fine"> {reference}</bdi>}
        <Changes of={event} />
      </span>
      <span class="fine who wide">
        <Actor of={actor} />
      </span>
      <Time at={at} />
    </li>
  );
}

/** The name of what an event is about, with a link to its page if it has one. */
export function Subject({ of: event }: { readonly of: Event }) {
  const may = useMay();
  const petId = petOf(event);
  const { subject, data, previous } = event;
  // Types that this release does not know have these fields too.
  const { name, url } = (data ?? previous ?? {}) as { name?: string; url?: string };
  const text = <bdi>{name ?? url ?? subject.id}</bdi>;
  if (petId !== undefined)
    return <Link to={`/animals/${petId}`}>{typeof name === "string" ? text : <PetName id={petId} />}</Link>;
  if (subject.type !== "webhook_endpoint" || !may("getWebhookEndpoint")) return text;
  return <Link to={`/webhooks/${subject.id}`}>{text}</Link>;
}

/** The changed fields, with their old and new values. */
export function Changes({ of: { type, data, previous } }: { readonly of: Event }) {
  if (!type.endsWith(".updated")) return null;
  const before = (previous ?? {}) as Fields;
  const after = (data ?? {}) as unknown as Fields;
  const { price } = before;
  // Of a price, the event has only the part that has changed.
  const shown: Fields = price ? { ...before, price: { ...(after["price"] as object), ...(price as object) } } : before;
  return (
    <>
      {Object.keys(before).map((name) => (
        <span key={name} class="fine">
          {" "}
          {name !== "status" &&
            `${updatePetBody.find((field) => field.name === name)?.label ?? wordOf(name.replaceAll(/(?=[A-Z])/g, " ").toLowerCase())}: `}
          <FieldValue name={name} value={shown[name]} /> → <FieldValue name={name} value={after[name]} />
        </span>
      ))}
    </>
  );
}
