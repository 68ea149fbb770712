import { session } from "./session/session.ts";
import { SignIn } from "./session/sign-in.tsx";
import { Shell } from "./shell/shell.tsx";
import { useStore } from "./store.ts";
import { Toasts } from "./ui/toasts.tsx";

export function App() {
  const { kind } = useStore(session);
  return (
    <>
      {kind === "open" ? <Shell /> : <SignIn />}
      <Toasts />
    </>
  );
}
