import { isLive } from "../service/live.ts";
import { useSession } from "../session/session.ts";
import { labelOf, useKeys } from "./keys.ts";

/** The name of a key; undefined if the user may not see it. */
export function useKeyName(id: string | undefined): string | undefined {
  const { key } = useSession();
  const isOwn = id === key.id;
  const { data } = useKeys(id !== undefined && !isOwn, isLive.value);
  const found = data?.find((other) => other.id === id);
  return isOwn ? key.name : data && found && labelOf(found, data);
}

/** The name of a key, if the user may see it. */
export function KeyName({ id }: { readonly id: string }) {
  const name = useKeyName(id);
  const { key } = useSession();
  if (!name) return <>Another key</>;
  return (
    <>
      <bdi>{name}</bdi>
      {id === key.id && <span class="fine"> (your key)</span>}
    </>
  );
}
