import icon from "../icon.svg";
import { groups, type PageEntry } from "../pages/page-entry.ts";
import { Link } from "../router.tsx";
import { tightestWindow } from "../service/connection.ts";
import { signOut, useSession } from "../session/session.ts";
import { Countdown, Time } from "../ui/time.tsx";
import { numberOf } from "../ui/words.ts";
import { useWatchable } from "../watchable.ts";

interface NavigationProps {
  readonly pages: readonly PageEntry[];
  readonly current: PageEntry | undefined;
  /** On a narrow screen the list of pages is hidden at first. */
  readonly isOpen: boolean;
  readonly setOpen: (isOpen: boolean) => void;
}

export function Navigation({ pages, current, isOpen, setOpen }: NavigationProps) {
  const { key } = useSession();
  return (
    <nav class={isOpen ? "navigation open" : "navigation"} aria-label="Pages of the console">
      <div class="brand">
        <img src={new URL(icon, import.meta.url).href} alt="" width="20" height="20" />
        <bdi class="name" title={key.account.name}>
          {key.account.name}
        </bdi>
        <button type="button" class="quiet narrow" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Menu
        </button>
      </div>
      {/* A click on any link in it closes the list on a narrow screen. */}
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the links have them */}
      <div class="pages" onClick={() => setOpen(false)}>
        {groups.map((group) => {
          const listed = pages.filter((page) => page.group === group);
          return (
            listed.length > 0 && (
              <section key={group} aria-label={group}>
                <h2>{group}</h2>
                {listed.map(({ path, title }) => (
                  <Link key={path} to={path} current={title === current?.title || path === current?.under}>
                    {title}
                  </Link>
                ))}
              </section>
            )
          );
        })}
        <section class="account">
          <Limits />
          <p class="fine">
            <bdi title={`Key ${key.hint}`}>{key.name}</bdi> · {key.scopes.join(", ")}
            {key.expiresAt && (
              <>
                {" "}
                · ends <Time at={key.expiresAt} isReal />
              </>
            )}
          </p>
          <button type="button" class="quiet" onClick={signOut}>
            Sign out
          </button>
        </section>
      </div>
    </nav>
  );
}

/** How much is left of the window with the least remaining. */
function Limits() {
  const known = useWatchable(tightestWindow);
  if (!known) return null;
  const { limit, remaining, reset } = known;
  return (
    <div>
      <p class="fine">
        <span class="number">
          {numberOf(remaining)} of {numberOf(limit)}
        </span>{" "}
        requests left
        {remaining < limit / 2 && (
          <>
            , resets in <Countdown until={reset} isReal />
          </>
        )}
      </p>
      <meter min={0} max={limit} value={remaining} low={limit / 10} aria-label="Requests left" />
    </div>
  );
}
