import type { ApiKeyPatch, IssuedApiKey, ListedApiKey, NewApiKey, RotateKeyQuery } from "petstore-client";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { changed, type FieldDescription } from "../contract.ts";
import { createKeyBody, updateKeyBody } from "../generated/contract.ts";
import { baseUrl } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { continueWith, type OpenSession, useSession } from "../session/session.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { askFirst } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { durationControl } from "../ui/form/duration.tsx";
import type { Control } from "../ui/form/field.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { Secret } from "../ui/secret.tsx";
import { Segments } from "../ui/segments.tsx";
import { say } from "../ui/toasts.tsx";
import { durationOf } from "../ui/words.ts";
import { KEYS } from "./keys.ts";

/** What this is called on the page of the keys, too. */
export const CONNECT = "Connect an assistant";

const HOUR = 3_600;
const DAY = 86_400;

interface DialogProps {
  readonly onClose: () => void;
}
interface KeyDialogProps extends DialogProps {
  readonly of: ListedApiKey;
}

const lifetimeControls = { expiresIn: durationControl([HOUR, DAY, 30 * DAY, 90 * DAY, 365 * DAY], "Never") };

interface CreateKeyProps extends DialogProps {
  /** The key is for an assistant: it is shown with what connects one. */
  readonly isForAssistant?: boolean;
}

/** Creates a key and shows it once. A key cannot grant more than its own scopes, so only those are offered. */
export function CreateKey({ isForAssistant, onClose }: CreateKeyProps) {
  const { petstore, key } = useSession();
  const [issued, setIssued] = useState<IssuedApiKey>();
  const action = useAction(async (body: NewApiKey, retryOptions) => {
    setIssued(await petstore.createKey(body, retryOptions));
    invalidate(KEYS);
  });
  const fields = createKeyBody
    .filter(({ name }) => name !== "mode" || key.mode === "live")
    .map((field) => {
      if (field.name === "mode") return changed(field, { hint: "By default that of your key." });
      return field.name === "scopes" ? changed(field, { choices: key.scopes }) : field;
    });
  if (issued) {
    return (
      <IssuedKey of={issued} onClose={onClose}>
        {isForAssistant && <Connection of={issued} />}
      </IssuedKey>
    );
  }
  return (
    <FormDialog
      title={isForAssistant ? CONNECT : "Create a key"}
      fields={fields}
      values={isForAssistant ? { name: "assistant", scopes: key.scopes.filter((scope) => scope !== "admin") } : {}}
      controls={lifetimeControls}
      action={action}
      submit="Create key"
      staysOpen
      onClose={onClose}
    >
      {isForAssistant && <p class="intro">The assistant gets its own key. Without “Write”, it can only read.</p>}
    </FormDialog>
  );
}

/** Gives a key a limit of its own. */
export function LimitKey({ of, onClose }: KeyDialogProps) {
  const { petstore } = useSession();
  const action = useAction(async (body: ApiKeyPatch) => {
    await petstore.updateKey(of.id, body);
    invalidate(KEYS);
  });
  return (
    <FormDialog
      title={`Limit ${of.name}`}
      fields={updateKeyBody}
      values={of}
      changesOnly
      action={action}
      submit="Save"
      onClose={onClose}
    />
  );
}

const OVERLAP = "overlap";
const overlapField: FieldDescription = {
  name: OVERLAP,
  label: "The old key ends",
  hint: "Until then both keys work.",
  kind: "integer",
  isRequired: true,
  preset: DAY,
};
/** When the old key ends: after one of these times, in seconds. */
const overlapControl =
  (...offered: number[]): Control =>
  ({ field, entry, change }) => (
    <Segments
      label={field.label}
      choices={offered.map((seconds) => [String(seconds), seconds === 0 ? "Now" : `In ${durationOf(seconds)}`])}
      chosen={entry as string}
      choose={change}
    />
  );
const overlapControls = { [OVERLAP]: overlapControl(0, HOUR, DAY, 7 * DAY) };
/** The service requires at least 60 seconds for the calling key. */
const ownOverlapControls = { [OVERLAP]: overlapControl(60, HOUR, DAY, 7 * DAY) };

/** Rotates a key. If it is the key of this session, the session continues with the new one. */
export function RotateKey({ of, onClose }: KeyDialogProps) {
  const { petstore, key } = useSession();
  const [issued, setIssued] = useState<IssuedApiKey>();
  const isOwn = of.id === key.id;
  const action = useAction(async (query: RotateKeyQuery, retryOptions) => {
    const next = await petstore.rotateKey(of.id, query, retryOptions);
    if (isOwn) continueWith(next); // at once: the old key may end while the dialog is open
    setIssued(next);
    invalidate(KEYS);
  });
  if (issued) return <IssuedKey of={issued} onClose={onClose} />;
  return (
    <FormDialog
      title={`Rotate ${of.name}`}
      fields={[overlapField]}
      controls={isOwn ? ownOverlapControls : overlapControls}
      action={action}
      submit="Rotate key"
      staysOpen
      onClose={onClose}
    >
      <p class="intro">
        A new key takes its place, with the same name, scopes and expiry.
        {isOwn && " You are signed in with this key, and go on with the new one."}
      </p>
    </FormDialog>
  );
}

interface IssuedKeyProps extends DialogProps {
  readonly of: IssuedApiKey;
  readonly children?: ComponentChildren;
}

function IssuedKey({ of, onClose, children }: IssuedKeyProps) {
  return (
    <Dialog title={`The new key ${of.name}`} onClose={onClose} ignoresEscape>
      <Secret text={of.key} what="key" onDone={onClose}>
        {children}
      </Secret>
    </Dialog>
  );
}

/** What connects an assistant with a key, as docs/agents.md has it. */
function Connection({ of }: { readonly of: IssuedApiKey }) {
  const url = baseUrl.replace(/v1$/, "mcp");
  const authorization = `Bearer ${of.key}`;
  const configuration = { mcpServers: { petstore: { url, headers: { Authorization: authorization } } } };
  return (
    <>
      <CodeBlock
        title="Claude Code"
        text={`claude mcp add --transport http petstore ${url} --header "Authorization: ${authorization}"`}
        what="command"
      />
      <CodeBlock title="Other clients" text={JSON.stringify(configuration, null, 2)} what="configuration" />
    </>
  );
}

/** Revokes a key, after a question. */
export const askToRevoke = ({ petstore, key }: OpenSession, { id, name, hint }: ListedApiKey): void =>
  askFirst({
    title: `Revoke ${name}?`,
    text: (
      <>
        Programs that use <code>{hint}</code> are refused immediately.
        {id === key.id && " You are signed in with this key, and will be signed out."}
      </>
    ),
    submit: "Revoke key",
    async run() {
      await petstore.revokeKey(id);
      say(`${name} revoked`);
      invalidate(KEYS);
    },
  });
