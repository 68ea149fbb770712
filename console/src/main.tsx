import { options, render } from "preact";
import { App } from "./app.tsx";
import { pages } from "./frame/pages.ts";
import { currentPlace } from "./router.tsx";
import { prefetchLatest } from "./service/live.ts";
import { preload } from "./service/query.ts";
import { start } from "./session/session.ts";
import { keepCalm } from "./ui/calm.ts";

/** The elements that hold names and values. */
const names: ReadonlySet<unknown> = new Set(["bdi", "code", "kbd", "pre"]);

// A browser that translates the page replaces texts by elements, which Preact does not know. So each text is the whole
// content of an element, and a change replaces what the browser has put there.
options.vnode = (node: { type: unknown; props: unknown }) => {
  if (!node.type) Object.assign(node, { type: "span", props: { children: node.props } });
  if (typeof node.type !== "string") return;
  const props = node.props as Record<string, unknown>;
  if (names.has(node.type)) props["translate"] = false;
  const { children } = props;
  if (typeof children === "string" || typeof children === "number") {
    props["textContent"] = children;
    delete props["children"];
  }
};

// Rendered only once, after this, because that is faster. Until then the static page shows a placeholder.
await start((petstore) => {
  const { path, query } = currentPlace();
  prefetchLatest(petstore); // before the queries, so that the stream also sends events that are newer than their responses
  return preload(pages.find((page) => page.path === path)?.firstQuery?.(petstore, query));
});
const container = document.getElementById("console") as HTMLElement;
container.replaceChildren(); // Preact keeps what is there
keepCalm();
render(<App />, container);
