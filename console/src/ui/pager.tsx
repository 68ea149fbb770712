import { go, usePlace } from "../router.tsx";
import { Icon } from "./icon.tsx";
import { useShortcut } from "./shortcuts.tsx";

/** Shown if a page is empty and another follows: the service searches only a part of a long list for each page. */
export const NONE_HERE = "Nothing on this page matches the filters. Look at the next page.";

/** How many earlier pages are stored. The browser's history is limited too, and each entry copies the list. */
const MAX_BACK = 50;

interface PagerProps {
  readonly next: string | undefined;
  /** How many there are, if the service knows. */
  readonly total?: string | undefined;
}

/** The foot of a list: the buttons to other pages. The cursor is in the address; earlier ones are in the browser's history. */
export function Pager({ next, total }: PagerProps) {
  const { path, query, state } = usePlace();
  const trail = (state["trail"] ?? []) as readonly string[];
  const forward =
    next === undefined
      ? undefined
      : () =>
          go(path, {
            query: { ...query, cursor: next },
            state: { trail: [...trail, query["cursor"] ?? ""].slice(-MAX_BACK) },
          });
  const back =
    query["cursor"] === undefined
      ? undefined
      : () => go(path, { query: { ...query, cursor: trail.at(-1) }, state: { trail: trail.slice(0, -1) } });
  useShortcut("]", "Next page", forward);
  useShortcut("[", "Previous page", back);
  if (!forward && !back && !total) return null;
  return (
    <footer>
      <span>{total}</span>
      {(forward || back) && (
        <nav aria-label="Pages">
          <button type="button" class="quiet" disabled={!back} onClick={back}>
            <Icon of="back" />
            <span>{trail.length > 0 || !back ? "Previous" : "First page"}</span>
          </button>
          <button type="button" class="quiet" disabled={!forward} onClick={forward}>
            <span>Next</span>
            <Icon of="next" />
          </button>
        </nav>
      )}
    </footer>
  );
}
