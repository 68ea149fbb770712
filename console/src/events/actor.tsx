import type { EventActor } from "petstore-client";
import { KeyName } from "../keys/key-name.tsx";

/** Who made a change: a key, the service or its operator. The log of a sandbox does not name live keys. */
export function Actor({ of: { kind, keyId } }: { readonly of: EventActor }) {
  if (kind === "system") return <>The service</>;
  if (kind === "operator") return <>The operator</>;
  return keyId === undefined ? <>A live key</> : <KeyName id={keyId} />;
}
