import { useEffect } from "preact/hooks";
import { usePlace } from "../router.tsx";
import { interruption } from "../service/connection.ts";
import { invalidate } from "../service/query.ts";
import { heldKeys } from "../session/key.ts";
import { useSession } from "../session/session.ts";
import { Countdown } from "../ui/time.tsx";
import { useWatchable } from "../watchable.ts";

/** How often the console checks whether the connection is back, in milliseconds. */
const CHECK_INTERVAL = 2_000;

/** What the user must know on every page. */
export function Banners() {
  const { key } = useSession();
  const hasSeveral = useWatchable(heldKeys).length > 1;
  return (
    <div class="banners" role="status">
      {key.mode === "test" && <p class="banner sandbox">Sandbox: nothing here is real.</p>}
      {key.mode === "live" && hasSeveral && (
        <p class="banner live good">
          Live shop: <bdi>{key.account.name}</bdi>
        </p>
      )}
      <InterruptionBanner />
    </div>
  );
}

const titles = {
  lost: "No connection to the service.",
  limited: "Too many requests.",
  banned: "The key is banned.",
  unavailable: "The service is not available.",
};

/** Shows that requests are waiting, why and until when, and checks whether they must still wait. */
function InterruptionBanner() {
  const { petstore } = useSession();
  const { path } = usePlace();
  const current = useWatchable(interruption);
  const { kind, until = 0, exemption = "" } = current ?? {};
  useEffect(() => {
    if (!kind) return undefined;
    // The current key can be read at any time, because it costs no quota.
    const check = async () => {
      const isOver = await petstore.getCurrentKey({ timeout: CHECK_INTERVAL * 2 }).then(
        ({ ban }) => !ban,
        () => false,
      );
      if (isOver) interruption.set(undefined);
    };
    const timer = setInterval(check, Math.max(CHECK_INTERVAL, until - Date.now() + 100));
    return () => {
      clearInterval(timer);
      // Requests may have failed, or data may have changed, during the interruption.
      if (!interruption.value) invalidate(exemption);
    };
  }, [kind, until, petstore]);
  // One that stops only exempt requests, such as `usage`, is shown on their page.
  if (!current || !path.startsWith(`/${exemption}`)) return null;
  return (
    <p class="banner bad">
      <strong>{titles[current.kind]}</strong> {current.message} The console continues automatically
      {current.until && (
        <>
          {" "}
          in <Countdown until={current.until} />
        </>
      )}
      .
    </p>
  );
}
