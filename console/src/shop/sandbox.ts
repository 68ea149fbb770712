import type { Sandbox } from "petstore-client";
import { useEffect } from "preact/hooks";
import { clockOffset } from "../service/clock.ts";
import { invalidate, type QueryResult, useQuery } from "../service/query.ts";
import { onVisible } from "../service/visibility.ts";
import { useMay, useSession } from "../session/session.ts";

/** The query key of the sandbox and its clock. */
export const SANDBOX = "sandbox";

/** The sandbox of the session's key. The page uses its clock. A live key has none. */
export function useSandbox(): QueryResult<Sandbox> {
  const { petstore, key } = useSession();
  const may = useMay();
  return useQuery(key.mode === "test" && may("getSandbox") ? SANDBOX : undefined, async () => {
    const sandbox = await petstore.getSandbox();
    clockOffset.set(Date.parse(sandbox.clock.now) - Date.now());
    return sandbox;
  });
}

/** Updates the clock of the page. Another program may have advanced the sandbox's clock while the tab was hidden. */
export function SandboxClock(): null {
  useSandbox();
  useEffect(() => {
    const end = onVisible(() => invalidate(SANDBOX));
    return () => {
      end();
      clockOffset.set(0);
    };
  }, []);
  return null;
}
