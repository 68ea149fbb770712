import type {
  NewWebhookEndpoint,
  NewWebhookRedelivery,
  Petstore,
  WebhookEndpoint,
  WebhookEndpointPatch,
  WebhookEndpointWithSecret,
} from "petstore-client";
import { useState } from "preact/hooks";
import { changed, type FieldDescription } from "../contract.ts";
import { createWebhookEndpointBody, redeliverWebhooksBody, updateWebhookEndpointBody } from "../generated/contract.ts";
import { go } from "../router.tsx";
import { useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { useSession } from "../session/session.ts";
import { askFirst } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ChoicesControl, type ControlProps } from "../ui/form/field.tsx";
import { Form } from "../ui/form/form.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { Secret } from "../ui/secret.tsx";
import { Segments } from "../ui/segments.tsx";
import { say } from "../ui/toasts.tsx";
import { refreshDeliveriesSoon, WEBHOOKS } from "./webhooks.ts";

/** Means all types of events. */
const ALL = "*";

interface DialogProps {
  readonly onClose: () => void;
}
interface EndpointDialogProps extends DialogProps {
  readonly of: WebhookEndpoint;
  /** What it missed, if it was disabled until now. */
  readonly missed?: WebhookEndpoint["missed"];
}

/** All types of events, or some of them. */
function TypesControl(props: ControlProps) {
  const { id, field, entry, change, described } = props;
  const isAll = (entry as readonly string[]).includes(ALL);
  const some = changed(field, { choices: field.choices?.filter((type) => type !== ALL) ?? [] });
  return (
    <>
      <div class="ticks">
        <label>
          <input
            id={isAll ? id : undefined}
            type="checkbox"
            checked={isAll}
            onChange={() => change(isAll ? [] : [ALL])}
            {...described}
          />
          All events
        </label>
      </div>
      {!isAll && <ChoicesControl {...props} field={some} />}
    </>
  );
}

const controls = { types: TypesControl };
const withTypes = (fields: readonly FieldDescription[]) =>
  fields.map((field) => (field.name === "types" ? changed(field, { isRequired: true, label: "Events" }) : field));
const newFields = withTypes(createWebhookEndpointBody);
const fields = withTypes(updateWebhookEndpointBody);

/** Creates an endpoint and shows its secret once. */
export function CreateEndpoint({ onClose }: DialogProps) {
  const { petstore } = useSession();
  const [created, setCreated] = useState<WebhookEndpointWithSecret>();
  const action = useAction(async (body: NewWebhookEndpoint, retryOptions) => {
    setCreated(await petstore.createWebhookEndpoint(body, retryOptions));
    invalidate(WEBHOOKS);
  });
  const finish = () => {
    onClose();
    go(`/webhooks/${created?.id}`);
  };
  if (created) return <NewSecret of={created} onClose={finish} />;
  return (
    <FormDialog
      title="Add an endpoint"
      onClose={onClose}
      fields={newFields}
      values={{ types: [ALL] }}
      controls={controls}
      action={action}
      submit="Add endpoint"
      staysOpen
    />
  );
}

function NewSecret({ of, onClose }: DialogProps & { readonly of: WebhookEndpointWithSecret }) {
  return (
    <Dialog title="The new secret" onClose={onClose} ignoresEscape>
      <Secret text={of.secret} what="secret" onDone={onClose} />
    </Dialog>
  );
}

export function EditEndpoint({ of, onClose }: EndpointDialogProps) {
  const { petstore } = useSession();
  const action = useAction(async (body: WebhookEndpointPatch) => {
    await petstore.updateWebhookEndpoint(of.id, body);
    say("Endpoint saved");
    invalidate(WEBHOOKS);
  });
  return (
    <FormDialog
      title="Edit the endpoint"
      fields={fields}
      values={of}
      changesOnly
      controls={controls}
      action={action}
      submit="Save"
      onClose={onClose}
    />
  );
}

/** Deletes an endpoint, after a question. */
export const askToDelete = (petstore: Petstore, { id, url }: WebhookEndpoint): void =>
  askFirst({
    title: "Delete the endpoint?",
    text: (
      <>
        Nothing more is sent to <bdi>{url}</bdi>, and the list of its deliveries is deleted. To stop for a while only,
        pause it.
      </>
    ),
    submit: "Delete endpoint",
    async run() {
      await petstore.deleteWebhookEndpoint(id);
      say("Endpoint deleted");
      invalidate(WEBHOOKS);
      go("/webhooks");
    },
  });

/** Creates a new secret and shows it once. */
export function RotateSecret({ of, onClose }: EndpointDialogProps) {
  const { petstore } = useSession();
  const [rotated, setRotated] = useState<WebhookEndpointWithSecret>();
  const action = useAction(async (_: void, retryOptions) => {
    setRotated(await petstore.rotateWebhookSecret(of.id, retryOptions));
    invalidate(WEBHOOKS);
  });
  if (rotated) return <NewSecret of={rotated} onClose={onClose} />;
  return (
    <FormDialog
      title="Rotate the secret?"
      fields={[]}
      action={action}
      submit="Rotate secret"
      staysOpen
      onClose={onClose}
    >
      <p class="intro">
        For 24 hours messages are signed with the old and the new secret, so that the receiver can change over.
      </p>
    </FormDialog>
  );
}

const sinceFields: readonly FieldDescription[] = [
  {
    name: "since",
    label: "Since",
    hint: "Everything that has happened since then is sent again.",
    kind: "time",
    isRequired: true,
  },
];
const ways = [
  ["since", "Since a time"],
  ["range", "A range of events"],
] as const;

/** Redelivers events: all since a time, or those of a range. */
export function Redeliver({ of, missed = of.missed, onClose }: EndpointDialogProps) {
  const { petstore } = useSession();
  const [way, setWay] = useState(missed ? "range" : "since");
  const action = useAction(
    async ({ since, ...range }: NewWebhookRedelivery & { readonly since?: string }, retryOptions) => {
      let redelivery: NewWebhookRedelivery = range;
      if (since !== undefined) {
        const [first] = await petstore.listEvents({ since, sort: "id", limit: 1 }).page();
        if (!first) return say("Nothing has happened since then");
        redelivery = { from: first.id };
      }
      const { from, to } = await petstore.redeliverWebhooks(of.id, redelivery, retryOptions);
      say(`Events ${from} to ${to} are queued`);
      refreshDeliveriesSoon();
    },
  );
  return (
    <Dialog title="Redeliver events" onClose={onClose}>
      {of.state === "enabled" ? (
        missed && (
          <p class="intro">The endpoint gets new events again. What it missed is sent only if you redeliver it.</p>
        )
      ) : (
        <p class="intro">
          <strong>The endpoint is {of.state}. Nothing is sent until you resume it.</strong>
        </p>
      )}
      <div class="intro">
        <Segments label="What to send again" choices={ways} chosen={way} choose={setWay} />
      </div>
      <Form
        key={way}
        fields={way === "since" ? sinceFields : redeliverWebhooksBody}
        values={{ since: of.failingSince, ...missed }}
        action={action}
        submit="Redeliver"
        onDone={onClose}
        onCancel={onClose}
      />
    </Dialog>
  );
}
