import { AuthenticationError, type CurrentKey, Petstore, type PetstoreError } from "petstore-client";
import { type OperationName, permits } from "../contract.ts";
import { baseUrl } from "../router.tsx";
import { watchedFetch } from "../service/connection.ts";
import { clearCache, watchFailures } from "../service/query.ts";
import { Store, useStore } from "../store.ts";
import { answerTabs, findKey, forgetKey, keepKey } from "./key.ts";

/** The user is signed in with a key. */
export interface OpenSession {
  readonly kind: "open";
  readonly petstore: Petstore;
  readonly key: CurrentKey;
  /** The text of the key. It is shown nowhere. */
  readonly secret: string;
}

type Session =
  | OpenSession
  | { readonly kind: "starting" }
  /** The user is not signed in. `error` is why the last key was refused. */
  | { readonly kind: "closed"; readonly error?: PetstoreError | undefined };

export const session = new Store<Session>({ kind: "starting" });

export function start(): void {
  answerTabs(() => close());
  watchFailures(endIfRefused);
  findKey((key) => {
    if (session.value.kind !== "open") void signIn(key);
  }, close);
}

/** Signs in with a key if the service knows it. */
export async function signIn(secret: string): Promise<void> {
  session.set({ kind: "starting" });
  try {
    const petstore = new Petstore({
      key: secret,
      baseUrl,
      fetch: watchedFetch,
      usersKey: true,
      onDeprecated: () => {},
    });
    const key = await petstore.getCurrentKey({ timeout: 10_000 });
    keepKey(secret);
    session.set({ kind: "open", petstore, key, secret });
  } catch (error) {
    close(error as PetstoreError);
  }
}

export function signOut(): void {
  forgetKey();
  close();
}

function close(error?: PetstoreError): void {
  clearCache();
  session.set({ kind: "closed", error });
}

/** Ends the session if the service no longer accepts the key: it was revoked, or has expired. */
export function endIfRefused(error: unknown): void {
  if (!(error instanceof AuthenticationError) || session.value.kind !== "open") return;
  forgetKey();
  close(error);
}

/** The session, for pages, which are rendered only while the user is signed in. */
export function useSession(): OpenSession {
  return useStore(session) as OpenSession;
}

/** Whether the key may use an operation. What it may not use is not shown. */
export function useMay(): (operation: OperationName) => boolean {
  const { key } = useSession();
  return (operation) => permits(key.scopes, operation);
}
