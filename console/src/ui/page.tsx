import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

interface PageProps {
  readonly title: string;
  /** True if the title is a name that no browser should translate. */
  readonly isName?: boolean;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of a page: its title, also as the title of the tab, and its actions. */
export function Page({ title, isName, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Petstore`;
  }, [title]);
  return (
    <>
      <header class="head">
        <h1 translate={!isName}>{title}</h1>
        <div class="actions">{actions}</div>
      </header>
      {children}
    </>
  );
}
