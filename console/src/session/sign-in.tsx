import { useEffect, useRef, useState } from "preact/hooks";
import icon from "../icon.svg";
import { ErrorNote } from "../ui/error-note.tsx";
import { kindOf } from "../ui/words.ts";
import { useWatchable } from "../watchable.ts";
import { heldKeys } from "./key.ts";
import { session, signIn, switchTo } from "./session.ts";

/** The page that is shown while the user is not signed in. */
export function SignIn() {
  const current = useWatchable(session);
  const held = useWatchable(heldKeys);
  const [key, setKey] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const isClosed = current.kind === "closed";
  useEffect(() => {
    document.title = "Sign in · Petstore";
    if (isClosed) input.current?.focus();
  }, [isClosed]);
  if (!isClosed) return <p class="starting">Signing in…</p>;
  const submit = (event: Event) => {
    event.preventDefault();
    if (key.trim()) void signIn(key.trim());
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <img src={new URL(icon, import.meta.url).href} alt="" width="36" height="36" />
        <h1>Petstore</h1>
        {current.kind === "closed" && <ErrorNote error={current.error} />}
        <div class="field">
          <label for="key">API key</label>
          <input
            id="key"
            ref={input}
            type="password"
            autocomplete="off"
            spellcheck={false}
            placeholder="psk_…"
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
            aria-describedby="key-hint"
          />
          <p id="key-hint" class="fine">
            An admin of your shop creates keys on the page Keys; the first one comes from the operator of the service.
            Yours is kept in the open tabs of this console until you sign out.
          </p>
        </div>
        <button type="submit" class="main" disabled={!key.trim()}>
          Sign in
        </button>
        {held.map((one) => (
          <button key={one.shop} type="button" onClick={() => switchTo(one)}>
            Back to <bdi>{one.name}</bdi> · {kindOf(one.isLive)}
          </button>
        ))}
      </form>
    </main>
  );
}
