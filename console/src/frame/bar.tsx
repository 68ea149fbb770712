import { useState } from "preact/hooks";
import { Link } from "../router.tsx";
import { startSale } from "../selling/sell.tsx";
import { useMay } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { type NavigationProps, Pages } from "./navigation.tsx";

/** What a telephone has at its lower edge: the pages that a shop needs most, the sale between them, and all others. */
export function Bar(props: NavigationProps) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const shown = props.pages.filter(({ isInBar }) => isInBar);
  const links = shown.map(({ path, title, icon }) => (
    <Link key={path} to={path} current={title === props.current?.title || path === props.current?.under}>
      {icon && <Icon of={icon} />}
      <span>{title}</span>
    </Link>
  ));
  return (
    <nav class="bar" aria-label="Most used">
      {links.slice(0, 2)}
      {may("placeStoreOrder") && (
        <button type="button" class="sell" onClick={() => startSale()}>
          <Icon of="sell" />
          <span>Sell</span>
        </button>
      )}
      {links.slice(2)}
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(true)}>
        <Icon of="more" />
        <span>More</span>
      </button>
      {isOpen && (
        <Dialog title="More" onClose={() => setOpen(false)}>
          {/* A click on any link in it closes the list. */}
          {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- the links have them */}
          <div onClick={() => setOpen(false)}>
            <Pages {...props} />
          </div>
        </Dialog>
      )}
    </nav>
  );
}
