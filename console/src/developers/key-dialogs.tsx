import type { IssuedApiKey, ListedApiKey, NewApiKey, RotateKeyQuery } from "petstore-client";
import { useState } from "preact/hooks";
import { changed } from "../contract.ts";
import { createKeyBody, rotateKeyQuery } from "../generated/contract.ts";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { signIn, useSession } from "../session/session.ts";
import { Confirm } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { durationControl } from "../ui/form/duration.tsx";
import { Form } from "../ui/form/form.tsx";
import { Secret } from "../ui/secret.tsx";
import { say } from "../ui/toasts.tsx";
import { KEYS } from "./keys.ts";

const [HOUR, DAY] = [3_600, 86_400];

interface DialogProps {
  readonly onClose: () => void;
}
interface KeyDialogProps extends DialogProps {
  readonly of: ListedApiKey;
}

const lives = { expiresIn: durationControl([HOUR, DAY, 30 * DAY, 90 * DAY, 365 * DAY], "Never") };

/** Creates a key and shows it once. A key cannot grant more than its own scopes, so only those are offered. */
export function CreateKey({ onClose }: DialogProps) {
  const { petstore, key } = useSession();
  const [issued, setIssued] = useState<IssuedApiKey>();
  const action = useAction(async (body: NewApiKey) => {
    setIssued(await petstore.createKey(body));
    invalidate(KEYS);
  });
  const fields = createKeyBody
    .filter(({ name }) => name !== "mode" || key.mode === "live")
    .map((field) => {
      if (field.name === "expiresIn") return changed(field, { hint: "" });
      return field.name === "scopes" ? changed(field, { choices: key.scopes }) : field;
    });
  if (issued) return <IssuedKey issued={issued} onClose={onClose} />;
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <Form fields={fields} controls={lives} action={action} submit="Create key" onDone={() => {}} onCancel={onClose} />
    </Dialog>
  );
}

const overlapFields = rotateKeyQuery.map((field) => changed(field, { hint: "How long the old key stays valid." }));
const overlaps = { overlap: durationControl([0, HOUR, DAY, 7 * DAY, 30 * DAY]) };
const ownOverlaps = { overlap: durationControl([60, HOUR, DAY, 7 * DAY, 30 * DAY]) };

/** Rotates a key. If it is the key of this session, the session continues with the new one. */
export function RotateKey({ of, onClose }: KeyDialogProps) {
  const { petstore, key } = useSession();
  const [issued, setIssued] = useState<IssuedApiKey>();
  const isOwn = of.id === key.id;
  const action = useAction(async (query: RotateKeyQuery) => {
    setIssued(await petstore.rotateKey(of.id, query));
    invalidate(KEYS);
  });
  const close = () => {
    onClose();
    if (isOwn && issued) void signIn(issued.key);
  };
  if (issued) return <IssuedKey issued={issued} onClose={close} />;
  return (
    <Dialog title={`Rotate ${of.name}`} onClose={onClose}>
      <p class="intro">
        A new key takes its place, with the same name, scopes and end.
        {isOwn && " You are signed in with this key, and go on with the new one."}
      </p>
      <Form
        fields={overlapFields}
        controls={isOwn ? ownOverlaps : overlaps}
        action={action}
        submit="Rotate key"
        onDone={() => {}}
        onCancel={onClose}
      />
    </Dialog>
  );
}

function IssuedKey({ issued, onClose }: DialogProps & { readonly issued: IssuedApiKey }) {
  return (
    <Dialog title={`The new key ${issued.name}`} onClose={onClose} isFirm>
      <Secret text={issued.key} what="key" onDone={onClose} />
    </Dialog>
  );
}

export function RevokeKey({ of, onClose }: KeyDialogProps) {
  const { petstore, key } = useSession();
  const action = useAction(async () => {
    await petstore.revokeKey(of.id);
    say(`${of.name}: revoked`);
    invalidate(KEYS);
  });
  return (
    <Confirm title={`Revoke ${of.name}?`} action={action} submit="Revoke key" onClose={onClose}>
      Programs that use <code>{of.hint}</code> are refused from then on. A revoked key cannot be used again.
      {of.id === key.id && " You are signed in with this key, and will be signed out."}
    </Confirm>
  );
}
