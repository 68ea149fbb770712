import { useSession } from "../session/session.ts";
import { labelOf, useKeys } from "./keys.ts";

/** The name of a key, if the user may see it. */
export function KeyName({ id }: { readonly id: string }) {
  const { key } = useSession();
  const isOwn = id === key.id;
  const { data } = useKeys(!isOwn);
  const found = data?.find((other) => other.id === id);
  const name = isOwn ? key.name : data && found && labelOf(found, data);
  if (!name) return <code>{id}</code>;
  return (
    <>
      <bdi>{name}</bdi> {isOwn && <span class="fine">(your key)</span>}
    </>
  );
}
