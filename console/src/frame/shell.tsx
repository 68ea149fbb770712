import { useLayoutEffect } from "preact/hooks";
import { Adding } from "../animals/pet-dialog.tsx";
import { Importing } from "../importing/import-pets.tsx";
import { go, usePlace } from "../router.tsx";
import { Sale } from "../selling/sell.tsx";
import { followShop } from "../service/live.ts";
import { OfferedKey } from "../session/offered-key.tsx";
import { permits, shopOf, useSession } from "../session/session.ts";
import { useMidnight } from "../shop/days.ts";
import { Settings } from "../shop/settings.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Parent } from "../ui/page.tsx";
import { ReferenceLink } from "../ui/reference-link.tsx";
import { ShortcutList, useShortcut } from "../ui/shortcuts.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { applyEvent } from "./apply-event.ts";
import { Banners } from "./banners.tsx";
import { Bar } from "./bar.tsx";
import { Navigation } from "./navigation.tsx";
import { NotFound } from "./not-found.tsx";
import { pages } from "./pages.ts";
import { Search } from "./search.tsx";

/** The frame around each page of a signed-in user. */
export function Shell() {
  const { path, shop } = usePlace();
  const { key, petstore } = useSession();
  // Before the queries of the page, so that the stream also sends events that are newer than their responses.
  useLayoutEffect(() => {
    const end = new AbortController();
    if (permits(key.scopes, "streamEvents")) void followShop(petstore, applyEvent, end.signal);
    return () => end.abort();
  }, [petstore]);
  useMidnight();
  const allowed = pages.filter(
    ({ needs, isForSandbox }) => permits(key.scopes, needs) && (!isForSandbox || key.mode === "test"),
  );
  const found = allowed.flatMap((page) => {
    const matched = match(page.path, path);
    return matched ? [{ page, params: matched.groups ?? {} }] : [];
  })[0];
  const isElsewhere = shop !== undefined && shop !== shopOf(key);
  const parent = pages.find((page) => page.path === found?.page.under);
  const View = isElsewhere ? undefined : found?.page.view;
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Navigation pages={allowed} current={found?.page} />
      <div class="column">
        <Banners />
        <main id="main" tabIndex={-1}>
          <Parent.Provider value={parent}>
            {View ? <View key={path} params={found?.params ?? {}} /> : <NotFound isElsewhere={isElsewhere} />}
          </Parent.Provider>
          {found && (parent ?? found.page).group === "Developers" && <ReferenceLink of={found.page.needs} />}
        </main>
        <Toasts />
      </div>
      <Bar pages={allowed} current={found?.page} />
      {allowed.map(
        ({ shortcut: keys, title, path: target }) =>
          keys && <GoTo key={target} keys={keys} title={title} path={target} />,
      )}
      <ShortcutList />
      <OfferedKey />
      <Confirm />
      <Sale />
      <Adding />
      <Importing />
      <Settings />
      <Search />
    </div>
  );
}

function GoTo({ keys, title, path }: { readonly keys: string; readonly title: string; readonly path: string }) {
  useShortcut(keys, `Go to ${title}`, () => go(path));
  return null;
}

/** The values of the parts that begin with a colon, as `groups`, if the path has the form of the pattern. */
const match = (pattern: string, path: string) =>
  new RegExp(`^${pattern.replace(/:(\w+)/g, "(?<$1>[^/]*)")}$`).exec(path);
