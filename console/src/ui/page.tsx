import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import { Link } from "../router.tsx";
import { Icon } from "./icon.tsx";
import { press } from "./shortcuts.tsx";

/** The list that the page belongs to. */
export const Parent = createContext<{ readonly path: string; readonly title: string } | undefined>(undefined);

interface PageProps {
  readonly title: string;
  /** True if the title is a name that no browser should translate. */
  readonly isName?: boolean;
  /** A few words beside the title. */
  readonly note?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of a page: the way back to its list, its title, also as the title of the tab, the search, and its actions. */
export function Page({ title, isName, note, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Petstore`;
  }, [title]);
  const parent = useContext(Parent);
  return (
    <>
      <header class="head">
        {parent && (
          <Link to={parent.path} class="back" label={`Back to ${parent.title}`}>
            <Icon of="back" />
          </Link>
        )}
        <h1 translate={!isName}>{title}</h1>
        {note && <div class="fine">{note}</div>}
        <div class="actions">
          <button type="button" class="find" title="Search" onClick={() => press("/")}>
            <Icon of="search" />
            <span class="wide">Search</span>
            <kbd class="wide" aria-hidden="true">
              Ctrl K
            </kbd>
          </button>
          {actions}
        </div>
      </header>
      {children}
    </>
  );
}
