import { Link } from "../router.tsx";
import { tightestWindow } from "../service/connection.ts";
import { heldKeys } from "../session/key.ts";
import { addShop, shopOf, signOut, switchTo, useMay, useSession } from "../session/session.ts";
import { useFigures } from "../shop/figures.ts";
import { openSettings } from "../shop/settings.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { LIST, press } from "../ui/shortcuts.tsx";
import { Countdown, Time } from "../ui/time.tsx";
import { kindOf, numberOf } from "../ui/words.ts";
import { useWatchable } from "../watchable.ts";
import { groups, type PageEntry } from "./page-entry.ts";

export interface NavigationProps {
  readonly pages: readonly PageEntry[];
  readonly current: PageEntry | undefined;
}

/** Which shop it is, and beside the page the list of all pages. */
export function Navigation(props: NavigationProps) {
  return (
    <nav class="navigation" aria-label="Pages of the console">
      <Shop />
      <Pages {...props} />
    </nav>
  );
}

/** Which shop it is, and on a click the others of the session. */
function Shop() {
  const { key } = useSession();
  const may = useMay();
  const others = useWatchable(heldKeys).filter(({ shop }) => shop !== shopOf(key));
  return (
    <Menu
      label="Other shops"
      class="brand"
      items={[
        ...others.map((held) => [`${held.name} · ${kindOf(held.isLive)}`, () => switchTo(held)] as const),
        ["Add a shop…", addShop],
        may("updateShop") && ["Settings…", openSettings],
      ]}
    >
      <Icon of="animals" />
      <span>
        <bdi class="name" title={key.account.name}>
          {key.account.name}
        </bdi>
        <span class="fine">{kindOf(key.mode === "live")}</span>
      </span>
      <Icon of="switch" />
    </Menu>
  );
}

/** All pages, and who is signed in. */
export function Pages({ pages, current }: NavigationProps) {
  const { key } = useSession();
  const { data: shop } = useFigures();
  return (
    <div class="pages">
      {groups.map((group) => {
        const listed = pages.filter((page) => page.group === group);
        return (
          listed.length > 0 && (
            <section key={group} aria-label={group}>
              <h2>{group}</h2>
              {listed.map(({ path, title, icon, count }) => (
                <Link key={path} to={path} current={title === current?.title || path === current?.under}>
                  {icon && <Icon of={icon} />}
                  <span>{title}</span>
                  {count && shop && (
                    <span class="count" aria-hidden="true">
                      {numberOf(count(shop))}
                    </span>
                  )}
                </Link>
              ))}
            </section>
          )
        );
      })}
      <section class="account">
        <p class="fine">
          <bdi title={`Key ${key.hint}`}>{key.name}</bdi> · {key.scopes.join(", ")}
          {key.expiresAt && (
            <>
              {" "}
              · ends <Time at={key.expiresAt} />
            </>
          )}
        </p>
        <Limits />
        <button type="button" class="quiet wide" onClick={() => press(LIST)}>
          Keyboard shortcuts
        </button>
        <button type="button" class="quiet" onClick={signOut}>
          Sign out
        </button>
      </section>
    </div>
  );
}

/** How much is left of the window with the least remaining. */
function Limits() {
  const known = useWatchable(tightestWindow);
  if (!known) return null;
  const { limit, remaining, reset } = known;
  return (
    <div>
      <meter min={0} max={limit} value={remaining} low={limit / 10} aria-label="Requests left" />
      <p class="fine">
        <span>
          {numberOf(remaining)} of {numberOf(limit)}
        </span>{" "}
        requests left
        {remaining < limit / 2 && (
          <>
            , resets in <Countdown until={reset} />
          </>
        )}
      </p>
    </div>
  );
}
