import { useSession } from "../session/session.ts";
import { useKeys } from "./keys.ts";

/** The name of a key, if the user may see it. */
export function KeyName({ id }: { readonly id: string }) {
  const { key } = useSession();
  const isOwn = id === key.id;
  const { data } = useKeys(!isOwn);
  if (isOwn) return <>this key</>;
  const name = data?.find((other) => other.id === id)?.name;
  return name ? <bdi>{name}</bdi> : <code>{id}</code>;
}
