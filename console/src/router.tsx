import type { ComponentChildren } from "preact";
import { useWatchable, Watchable } from "./watchable.ts";

/** The path that contains `v1/` and `console/`: `/`, or for example `/api/` if a proxy serves the service there. */
export const root = new URL("../..", import.meta.url).pathname;
const home = `${root}console`;
/** The base address of the interface. */
export const baseUrl = `${location.origin}${root}v1`;

export type Query = Readonly<Record<string, string | undefined>>;

/** The current location. `path` begins with a slash. The path of the first page is `/`. */
export interface Place {
  readonly path: string;
  readonly query: Query;
  /** The shop that the address names. It names one if the session has several. */
  readonly shop: string | undefined;
  /** State of the entry in the browser's history that is not part of the address. */
  readonly state: Readonly<Record<string, unknown>>;
}

export function currentPlace(): Place {
  const { shop, ...query }: Query = Object.fromEntries(new URLSearchParams(location.search));
  return {
    path: location.pathname.slice(home.length).replace(/\/+$/, "") || "/",
    query,
    shop,
    state: (history.state ?? {}) as Place["state"],
  };
}

const place = new Watchable(currentPlace());
/** What closes the dialogs and menus that are open, the last on top. */
const open: (() => void)[] = [];

/** Lets going back call `close` instead of leaving the page, until the returned function is called. */
export function closeOnBack(close: () => void): () => void {
  open.push(close);
  return () => void open.splice(open.lastIndexOf(close), 1);
}

addEventListener("popstate", () => {
  const close = open.at(-1);
  if (close)
    go(place.value.path, place.value); // stays where it was
  else place.set(currentPlace());
  close?.();
});

export const usePlace = (): Place => useWatchable(place);

/** The shop in the addresses of links. */
let namedShop: string | undefined;

/** Lets addresses name a shop, or none. */
export function nameShop(shop: string | undefined): void {
  namedShop = shop;
  const { path, query, ...here } = currentPlace();
  if (here.shop === shop) return;
  history.replaceState(history.state, "", addressOf(path, query));
  place.set(currentPlace());
}

/** The address of a location in the console. Undefined and empty query parameters are left out. */
function addressOf(path: string, query: Query = {}): string {
  const given = Object.entries({ ...query, shop: namedShop }).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  );
  const search = new URLSearchParams(given).toString();
  return `${home}${path === "/" ? "" : path}${search && `?${search}`}`;
}

interface NavigationOptions {
  readonly query?: Query;
  readonly state?: Place["state"];
  /** Another shop than that of this page. */
  readonly shop?: string | undefined;
}

export function go(path: string, { query, state = {}, shop = namedShop }: NavigationOptions = {}): void {
  namedShop = shop;
  history.pushState(state, "", addressOf(path, query));
  const before = place.value;
  place.set(currentPlace());
  if (path !== before.path || query?.cursor !== before.query.cursor) scrollTo(0, 0);
}

/** Changes query parameters of the current location. A changed filter returns to the first page of a list. */
export function filterBy(changes: Query): void {
  const { path, query } = place.value;
  go(path, { query: { ...query, cursor: undefined, ...changes } });
}

interface LinkProps {
  readonly to: string;
  readonly query?: Query;
  readonly class?: string;
  /** What it is called, if it shows no words. */
  readonly label?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
}

/** A link inside the console. Clicks that open another tab or window are left to the browser. */
export function Link({ to, query, current, label, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to, query ? { query } : {});
  };
  return (
    <a
      href={addressOf(to, query)}
      onClick={follow}
      aria-current={current ? "page" : undefined}
      aria-label={label}
      {...rest}
    >
      {children}
    </a>
  );
}
