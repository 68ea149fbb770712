import type { PetstoreError } from "petstore-client";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { changed, type FieldDescription } from "../../contract.ts";
import type { Action } from "../../service/action.ts";
import { focusFirst } from "../dialog.tsx";
import { ErrorNote } from "../error-note.tsx";
import { type Control, Field } from "./field.tsx";
import { type Entries, type Entry, entryOf, faultOf, valueOf } from "./values.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- the operation that gets the values checks them
type Values = any;

export interface FormProps {
  readonly fields: readonly FieldDescription[];
  /** The initial values. With `changesOnly`, only fields that differ from them are sent. */
  readonly values?: object;
  readonly changesOnly?: boolean;
  /** Controls that replace the default ones, by field name. */
  readonly controls?: Readonly<Record<string, Control>>;
  readonly action: Action<Values>;
  /** The label of the button. */
  readonly submit: string;
  /** The fields that keep their entries if the user then enters another of the same. Without them, none can be. */
  readonly kept?: readonly string[];
  /** True for what cannot be undone. */
  readonly isFinal?: boolean;
  readonly onDone: () => void;
  readonly onCancel: () => void;
  /** The label of the button that closes it. */
  readonly cancel?: string;
}

/** A form for the body or query of an operation. Faults that the service finds are shown beside their fields. */
export function Form({
  fields: given,
  values = {},
  changesOnly,
  controls = {},
  action,
  submit,
  kept,
  isFinal,
  onDone,
  onCancel,
  cancel = "Cancel",
}: FormProps) {
  const initial = useRef<Entries>(
    Object.fromEntries(given.map((field) => [field.name, entryOf(field, (values as Values)[field.name])])),
  );
  // A patch cannot remove such a value: an empty entry would be left out, as if it had not changed.
  const fields = given.map((field) => {
    const entry = changesOnly && !field.canBeEmpty && !field.isRemovable && initial.current[field.name];
    return entry && typeof entry === "string" ? changed(field, { isRequired: true }) : field;
  });
  const [entries, setEntries] = useState(initial.current);
  const [tries, setTries] = useState(0);
  const element = useRef<HTMLFormElement>(null);
  const serviceFaults = faultsOf(action.error);
  const faults = fields.map(
    (field) => (tries > 0 && faultOf(field, entries[field.name])) || serviceFaults.get(field.name),
  );

  useLayoutEffect(() => {
    if (element.current?.closest("dialog")) focusFirst(element.current);
  }, []);
  useLayoutEffect(() => element.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [tries]);
  const change = (name: string, entry: Entry) => {
    action.clearError();
    setEntries((before) => ({ ...before, [name]: entry }));
  };
  const again = () => {
    setEntries((before) =>
      Object.fromEntries(fields.map(({ name }) => [name, (kept?.includes(name) ? before : initial.current)[name]!])),
    );
    setTries(0);
    focusFirst(element.current);
  };
  const send = async (then: () => void) => {
    setTries(tries + 1);
    if (fields.some((field) => faultOf(field, entries[field.name]))) return;
    const before = changesOnly ? initial.current : {};
    const sent = fields.filter(({ name }) => entries[name] !== before[name]);
    const body = Object.fromEntries(
      sent.map((field) => [field.name, valueOf(field, entries[field.name], before[field.name])]),
    );
    if (await action.run(body)) then();
  };
  const isAllShown = serviceFaults.size > 0 && detailsOf(action.error).length === faults.filter(Boolean).length;
  return (
    <form
      ref={element}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void send(onDone);
      }}
    >
      {fields.map((field, index) => (
        <Field
          key={field.name}
          field={field}
          control={controls[field.name]}
          entry={entries[field.name] as Entry}
          change={(entry) => change(field.name, entry)}
          fault={faults[index] || undefined}
        />
      ))}
      {action.error !== undefined && !isAllShown && <ErrorNote error={action.error} />}
      <footer>
        <button type="button" onClick={onCancel}>
          {cancel}
        </button>
        {kept && (
          <button type="button" disabled={action.isRunning} onClick={() => void send(again)}>
            Save and add another
          </button>
        )}
        <button type="submit" class={isFinal ? "bad" : "main"} disabled={action.isRunning}>
          {submit}
        </button>
      </footer>
    </form>
  );
}

const detailsOf = (error: unknown) => (error as PetstoreError | undefined)?.details ?? [];

/** The faults of an invalid request by the names of its fields. That of a pair starts with the key of the pair. */
function faultsOf(error: unknown): Map<string, string> {
  return new Map(
    detailsOf(error).map(({ path, message }) => {
      const [, , name = "", ...rest] = path.split("/");
      return [name, `${rest.join("/") || "This"} ${message}.`];
    }),
  );
}
