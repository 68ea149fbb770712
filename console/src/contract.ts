/** A field of a form, as the contract describes it. */
export interface FieldDescription {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** By default, text. */
  readonly kind?: "id" | "integer" | "time" | "choice" | "choices" | "pairs" | "price";
  readonly isRequired?: boolean;
  readonly placeholder?: string;
  /** Texts that it suggests. */
  readonly suggested?: readonly string[];
  readonly choices?: readonly string[];
  /** A choice that is not offered. */
  readonly except?: unknown;
  /** The default of the service. */
  readonly preset?: unknown;
  readonly canBeEmpty?: boolean;
  /** True if an empty entry removes the value that it had. */
  readonly isRemovable?: boolean;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A parameter of a list that has a few choices. */
export type Filter = Required<Pick<FieldDescription, "name" | "choices">>;

/** A field of a form with another description than in the contract. */
export function changed(field: FieldDescription, changes: Partial<FieldDescription>): FieldDescription {
  return { ...field, ...changes };
}

/** The values that a field of a form or a filter may have. */
export function choicesOf(
  fields: readonly Pick<FieldDescription, "name" | "choices">[],
  name: string,
): readonly string[] {
  return fields.find((field) => field.name === name)?.choices ?? [];
}
