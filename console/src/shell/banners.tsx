import { useEffect } from "preact/hooks";
import { hindrance } from "../service/connection.ts";
import { invalidate } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { useStore } from "../store.ts";
import { Countdown } from "../ui/time.tsx";

/** How often an unreachable service is tried again, in milliseconds. */
const LOOK = 2_000;

/** What the user must know on every page. */
export function Banners() {
  const { key } = useSession();
  return (
    <div class="banners" role="status">
      {key.mode === "test" && <p class="banner sandbox">Sandbox: nothing here is real.</p>}
      <Trouble />
    </div>
  );
}

const titles = {
  limited: "Too many requests.",
  banned: "The key is banned.",
  unavailable: "The service is not available.",
};

/** Shows that requests are waiting, why and until when, and checks whether they must still wait. */
function Trouble() {
  const { petstore } = useSession();
  const known = useStore(hindrance);
  const kind = known?.kind;
  const until = known && known.kind !== "lost" ? known.until : 0;
  useEffect(() => {
    if (!kind) return undefined;
    // The current key can be read at any time, because it costs no quota. A response ends the waiting.
    const look = async () => {
      const isOver = await petstore.getCurrentKey({ timeout: LOOK * 2 }).then(
        ({ ban }) => !ban,
        () => false,
      );
      if (isOver) hindrance.set(undefined);
    };
    const timer = kind === "lost" ? setInterval(look, LOOK) : setTimeout(look, Math.max(0, until - Date.now()) + 100);
    return () => {
      clearInterval(timer);
      if (!hindrance.value) invalidate(""); // requests in between may have failed, or their data may be old
    };
  }, [kind, until, petstore]);
  if (!known) return null;
  return known.kind === "lost" ? (
    <p class="banner bad">
      No connection to the service. The data on this page may be out of date. The console keeps trying.
    </p>
  ) : (
    <p class="banner bad">
      <strong>{titles[known.kind]}</strong> {known.message} The console continues automatically in{" "}
      <Countdown until={known.until} isReal />.
    </p>
  );
}
