import { Shell } from "./frame/shell.tsx";
import { session } from "./session/session.ts";
import { SignIn } from "./session/sign-in.tsx";
import { useWatchable } from "./watchable.ts";

export function App() {
  const { kind } = useWatchable(session);
  return kind === "open" ? <Shell /> : <SignIn />;
}
