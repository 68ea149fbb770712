import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { QueryResult } from "../service/query.ts";
import { ErrorNote } from "./error-note.tsx";

export interface Column<T> {
  readonly head: string;
  readonly cell: (item: T) => ComponentChildren;
  /**
   * Where it is on a telephone, whose rows have two lines: at their beginning, at their end, below one of them, or, for
   * buttons, on a separate line. By default it is not shown there.
   */
  readonly narrow?: "name" | "end" | "under" | "below" | "acts";
  readonly isNumber?: boolean;
  /** Wider than the other columns. */
  readonly fillsWidth?: boolean;
}

interface TableProps<T> {
  /** What the table lists, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  /** Where the items come from. Its error is shown, too. */
  readonly query: Partial<QueryResult<unknown>>;
  /** The items, if they are not the data of the query. */
  readonly items?: readonly T[] | undefined;
  /** By default, the item's id. */
  readonly keyOf?: (item: T) => string;
  /** Shown if the list is empty: what to do next. Without it, it never is. */
  readonly empty?: ComponentChildren;
  /** Below the rows, such as a `Pager`. */
  readonly foot?: ComponentChildren;
  /** Makes rows selectable. */
  readonly ticks?:
    | {
        readonly ticked: ReadonlySet<string>;
        readonly set: (ticked: ReadonlySet<string>) => void;
        readonly nameOf: (item: T) => string;
      }
    | undefined;
}

/** How many rows are rendered first, and added with each paint, so that no task is long. About half a screen. */
const ROWS_AT_ONCE = 10;

function useRenderedRows(isLoading: boolean, count: number): number {
  const [rendered, setRendered] = useState(ROWS_AT_ONCE);
  useEffect(() => {
    if (isLoading) setRendered(ROWS_AT_ONCE);
    else if (rendered < count) setRendered(rendered + ROWS_AT_ONCE);
  }, [isLoading, rendered, count]);
  return isLoading ? ROWS_AT_ONCE : rendered;
}

const idOf = (item: unknown) => String((item as { readonly id: unknown }).id);

/** Follows the link of a row, wherever the row is clicked: not on a control, and not to select text. */
function followRow(event: MouseEvent): void {
  const target = event.target as Element;
  if (target.closest("a, button, input, select, dialog, [popover], .tick") || getSelection()?.type === "Range") return;
  target.closest("tr")?.querySelector("a.title")?.dispatchEvent(new MouseEvent("click", event));
}

const controlsOf = (row: Element | null) => [...(row?.querySelectorAll<HTMLElement>("a, button, input") ?? [])];

/** Arrow keys lead from a control of a row to the others, and to the same one of the rows above and below. */
function moveFocus(event: KeyboardEvent): void {
  const [down, right] =
    { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
  const from = event.target as Element;
  const row = from.closest("tr");
  if (down === undefined || right === undefined || !row || from.closest("dialog, [popover]")) return;
  const at = controlsOf(row).findIndex((control) => control === from);
  const next = down > 0 ? row.nextElementSibling : row.previousElementSibling;
  const found = down === 0 ? controlsOf(row)[at + right] : (controlsOf(next)[at] ?? controlsOf(next).at(-1));
  if (at < 0 || !found) return;
  event.preventDefault();
  found.focus();
}

const skeletonRows = [72, 48, 64, 56, 80, 44, 60, 68];

/** A list with a skeleton while it is loading, an error with advice, and a hint if it is empty. */
export function Table<T>({ label, columns, query, keyOf = idOf, empty, foot, ticks, ...given }: TableProps<T>) {
  const { data, error, reload } = query;
  const items = given.items ?? (data as readonly T[] | undefined);
  const rendered = useRenderedRows(!items, items?.length ?? 0);
  if (items?.length === 0 && !error) {
    return (
      <>
        <div class="empty">{empty}</div>
        {foot}
      </>
    );
  }
  const tickAll = () => {
    const keys = (items ?? []).map(keyOf);
    ticks?.set(new Set(keys.every((key) => ticks.ticked.has(key)) ? [] : keys));
  };
  const tick = (key: string) => {
    const next = new Set(ticks?.ticked);
    if (!next.delete(key)) next.add(key);
    ticks?.set(next);
  };
  const classOf = ({ narrow, isNumber, fillsWidth }: Column<T>) =>
    [narrow && `at-${narrow}`, isNumber && "number", fillsWidth && "fill"].filter(Boolean).join(" ");
  return (
    <>
      <ErrorNote error={error} retry={reload} />
      {(items || !error) && (
        <div class="list">
          <table aria-label={label} aria-busy={!items}>
            <thead>
              <tr>
                {ticks && (
                  <th class="tick">
                    <input
                      type="checkbox"
                      aria-label="Select all on this page"
                      checked={items !== undefined && items.every((item) => ticks.ticked.has(keyOf(item)))}
                      onChange={tickAll}
                    />
                  </th>
                )}
                {columns.map((column) => (
                  <th key={column.head} class={classOf(column)} scope="col">
                    {column.head || <span class="unseen">Actions</span>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody onClick={followRow} onKeyDown={moveFocus}>
              {items
                ? items.slice(0, rendered).map((item) => {
                    const key = keyOf(item);
                    return (
                      <tr key={key} aria-selected={ticks ? ticks.ticked.has(key) : undefined}>
                        {ticks && (
                          <td class="tick">
                            <input
                              type="checkbox"
                              aria-label={`Select ${ticks.nameOf(item)}`}
                              checked={ticks.ticked.has(key)}
                              onChange={() => tick(key)}
                            />
                          </td>
                        )}
                        {columns.map((column) => (
                          <td key={column.head} class={classOf(column)}>
                            {column.cell(item)}
                          </td>
                        ))}
                      </tr>
                    );
                  })
                : skeletonRows.map((width, row) => (
                    <tr key={width}>
                      {ticks && <td class="tick" />}
                      {columns.map((column, index) => (
                        <td key={column.head} class={classOf(column)}>
                          <Skeleton width={index === 0 ? width : (width + row * 7) % 50} />
                        </td>
                      ))}
                    </tr>
                  ))}
            </tbody>
          </table>
          {foot}
        </div>
      )}
    </>
  );
}

/** A placeholder for text that is loading. `width` is in percent. */
export function Skeleton({ width }: { readonly width: number }) {
  return <span class="skeleton" style={{ width: `${Math.max(width, 20)}%` }} />;
}
