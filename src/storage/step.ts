import type { ShopNumber } from "../contract/caller.ts";
import type { Step, StepKind } from "../contract/steps.ts";
import type { Append, Statement, Values } from "./statement.ts";

/** A step that runs a statement. The engine returns its rows. */
export interface StatementStep {
  readonly statement: Statement;
  readonly parameters: Values;
}

/** A row to append, and its row in the log. */
export interface NewRow<R extends Values = Values, L extends Values = Values> {
  readonly shop: ShopNumber;
  /** Unix milliseconds. */
  readonly now: number;
  readonly row: R;
  readonly logged: L;
  /** What it adds to other counts of the shop. */
  readonly amounts: readonly number[];
  /** What it is counted with: see `countGroup`. */
  readonly countedBy: bigint;
}

/** A step that appends a row: see `append`. The engine returns an `Appended`, or no row. */
export interface AppendStep extends NewRow {
  readonly append: Append;
}

/** Steps that are sent in one round trip. The engine returns a list of what it returns for each. */
interface GroupStep {
  readonly group: readonly StoreStep[];
}

/** A step that runs in the store. */
export type StoreStep = StatementStep | AppendStep | GroupStep;

// Steps that run nothing in the store: see `afterCommit`, `waitFor` and `pause`.
interface AfterCommit {
  readonly afterCommit: () => void;
}
interface Wait {
  readonly waitsFor: Promise<unknown>;
}
interface Pause {
  readonly pauses: true;
}

/** A step, as engines see it. */
export type KnownStep = StoreStep | AfterCommit | Wait | Pause;

/** What kind a step can be. For a statement or a group, the caller says it. */
type KindOf<S extends KnownStep> = S extends Wait | Pause
  ? "wait"
  : S extends AppendStep | AfterCommit
    ? "change"
    : StepKind;

/** Creates a step. The brand of `Step` exists only in the types, and only this function adds it. */
export function step<S extends KnownStep, K extends KindOf<S>>(known: S): Step<K> {
  return known as KnownStep & Step<K>;
}
