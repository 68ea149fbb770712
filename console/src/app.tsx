import { session } from "./session/session.ts";
import { SignIn } from "./session/sign-in.tsx";
import { Shell } from "./shell/shell.tsx";
import { useWatchable } from "./watchable.ts";

export function App() {
  const { kind } = useWatchable(session);
  return kind === "open" ? <Shell /> : <SignIn />;
}
