import { render } from "preact";
import { App } from "./app.tsx";
import { pages } from "./pages/pages.ts";
import { currentPlace } from "./router.tsx";
import { prefetchEndOfLog } from "./service/live.ts";
import { preload } from "./service/query.ts";
import { start } from "./session/session.ts";

// Rendered only once, after this, because that is faster. Until then the static page shows a placeholder.
await start((petstore) => {
  const { path, query } = currentPlace();
  prefetchEndOfLog(petstore); // before the queries, so that the stream also sends events that are newer than their responses
  return preload(pages.find((page) => page.path === path)?.firstQuery?.(petstore, query));
});
const container = document.getElementById("console") as HTMLElement;
container.replaceChildren(); // Preact keeps what is there
render(<App />, container);
