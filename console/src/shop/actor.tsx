import type { EventActor } from "petstore-client";
import { KeyName } from "../developers/key-name.tsx";

/** Who made a change: a key, the service or its operator. */
export function Actor({ actor: { kind, keyId } }: { readonly actor: EventActor }) {
  if (kind === "system") return <>the service</>;
  return keyId === undefined ? <>the operator</> : <KeyName id={keyId} />;
}
