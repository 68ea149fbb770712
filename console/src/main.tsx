import { render } from "preact";
import { App } from "./app.tsx";
import { pages } from "./pages/pages.ts";
import { currentPlace } from "./router.tsx";
import { readEnd } from "./service/live.ts";
import { preload } from "./service/query.ts";
import { start } from "./session/session.ts";

// Until then the document itself shows that something happens: one rendering takes less time than two.
await start((petstore) => {
  const { path, query } = currentPlace();
  readEnd(petstore); // before the queries: an event after their responses is after the position of the stream, too
  return preload(pages.find((page) => page.path === path)?.firstQuery?.(petstore, query));
});
render(<App />, document.getElementById("console") as HTMLElement);
