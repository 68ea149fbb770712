import type { ComponentType } from "preact";
import type { FieldDescription } from "../../contract.ts";
import { Icon } from "../icon.tsx";
import { Select } from "../select.tsx";
import { useId } from "../use-id.ts";
import { wordOf } from "../words.ts";
import { type Entry, isWrongPair, pairsIn } from "./values.ts";

/** The properties of a control. */
export interface ControlProps {
  readonly id: string;
  readonly field: FieldDescription;
  readonly entry: Entry;
  readonly change: (entry: Entry) => void;
  /** The elements with its description and its error, for screen readers. */
  readonly described: { readonly "aria-describedby": string | undefined; readonly "aria-invalid": boolean };
}

export type Control = ComponentType<ControlProps>;

type TextEvent = { readonly currentTarget: { readonly value: string } };

function TextControl({ id, field, entry, change, described }: ControlProps) {
  const shared = { id, value: entry as string, required: field.isRequired ?? false, ...described };
  const input = ({ currentTarget }: TextEvent) => change(currentTarget.value);
  const isNumber = field.kind === "id" || field.kind === "integer";
  if (field.kind === "time") return <input {...shared} type="datetime-local" onInput={input} />;
  return (
    <>
      <input
        {...shared}
        inputMode={isNumber ? "numeric" : "text"}
        autocomplete="off"
        placeholder={field.placeholder}
        list={field.suggested && `${id}-list`}
        onInput={input}
      />
      {field.suggested && (
        <datalist id={`${id}-list`}>
          {field.suggested.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
    </>
  );
}

function ChoiceControl({ id, field, entry, change, described }: ControlProps) {
  return (
    <Select
      id={id}
      value={entry as string}
      choose={change}
      choices={[
        ...(field.isRequired || field.preset !== undefined ? [] : [["", "—"] as const]),
        ...(field.choices ?? []).map((choice) => [choice, wordOf(choice)] as const),
      ]}
      {...described}
    />
  );
}

export function ChoicesControl({ id, field, entry, change, described }: ControlProps) {
  const ticked = entry as readonly string[];
  return (
    <div class="ticks" id={id} role="group" aria-label={field.label} {...described}>
      {field.choices?.map((choice) => (
        <label key={choice}>
          <input
            type="checkbox"
            checked={ticked.includes(choice)}
            onChange={({ currentTarget: { checked } }) =>
              change(checked ? [...ticked, choice] : ticked.filter((other) => other !== choice))
            }
          />
          {wordOf(choice)}
        </label>
      ))}
    </div>
  );
}

function PairsControl({ id, field, entry, change, described }: ControlProps) {
  const texts = entry as readonly string[];
  return (
    <div class="pairs" id={id} role="group" aria-label={field.label} aria-describedby={described["aria-describedby"]}>
      {pairsIn(entry).map((pair, index, pairs) => (
        <div key={index}>
          {pair.map((text, part) => (
            <input
              key={part}
              aria-label={`${part ? "Text" : "Detail"} ${index + 1}`}
              placeholder={part ? "Text" : "Detail"}
              value={text}
              aria-invalid={!part && described["aria-invalid"] && isWrongPair(pair, index, pairs)}
              onInput={({ currentTarget }) => change(texts.with(index * 2 + part, currentTarget.value))}
            />
          ))}
          <button
            type="button"
            class="quiet only"
            onClick={() => change(texts.toSpliced(index * 2, 2))}
            aria-label={`Remove detail ${index + 1}`}
          >
            <Icon of="close" />
          </button>
        </div>
      ))}
      <button
        type="button"
        onClick={({ currentTarget }) => {
          change([...texts, "", ""]);
          setTimeout(() => currentTarget.previousElementSibling?.querySelector("input")?.focus()); // once it is there
        }}
      >
        Add a detail
      </button>
    </div>
  );
}

function controlOf({ kind }: FieldDescription): Control {
  if (kind === "choice") return ChoiceControl;
  if (kind === "choices") return ChoicesControl;
  return kind === "pairs" ? PairsControl : TextControl;
}

interface FieldProps extends Pick<ControlProps, "field" | "entry" | "change"> {
  readonly control?: Control | undefined;
  readonly fault?: string | undefined;
}

/** A field of a form: its label, control, description and error. */
export function Field({ field, control, fault, ...rest }: FieldProps) {
  const id = useId();
  const Control = control ?? controlOf(field);
  const described = { "aria-describedby": `${id}-hint`, "aria-invalid": fault !== undefined };
  return (
    <div class="field">
      <label for={id}>
        {field.label}
        {!field.isRequired && <span class="fine"> optional</span>}
      </label>
      <Control id={id} field={field} described={described} {...rest} />
      <p id={`${id}-hint`} class={fault ? "fault" : "fine"}>
        {fault ?? field.hint}
      </p>
    </div>
  );
}
