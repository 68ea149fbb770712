import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { closeOnBack } from "../router.tsx";
import { Icon } from "./icon.tsx";

/** What can be chosen in a menu, or false if it is not offered. */
export type MenuItem = false | readonly [text: string, run: () => void, isBad?: boolean];

interface MenuProps {
  /** What the actions are done to. It stands in their names. */
  readonly of?: string;
  /** The name of the list, and of its button if that has no other content. */
  readonly label?: string;
  /** The classes and the content of its button. */
  readonly class?: string;
  readonly children?: ComponentChildren;
  readonly items: readonly MenuItem[];
}

/** A button that opens a list of less frequent actions, beside it and above everything. */
export function Menu({ of, label = `More for ${of}`, items, children, ...rest }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const wasOpen = useRef(false); // the browser closes it before the click on its button
  useLayoutEffect(() => {
    const menu = list.current;
    if (!isOpen || !menu || !button.current) return undefined;
    menu.showPopover();
    const { right, bottom } = button.current.getBoundingClientRect();
    menu.style.left = `${Math.max(8, right - menu.offsetWidth)}px`;
    menu.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - menu.offsetHeight - 8))}px`;
    menu.querySelector("button")?.focus();
    return closeOnBack(() => menu.hidePopover());
  }, [isOpen]);
  const offered = items.filter((item) => item !== false);
  if (offered.length === 0) return null;
  return (
    <>
      <button
        ref={button}
        type="button"
        class={rest.class ?? "quiet small only"}
        aria-label={children ? undefined : label}
        aria-haspopup="true"
        aria-expanded={isOpen}
        onPointerDown={() => (wasOpen.current = isOpen)}
        onClick={() => {
          setOpen(!wasOpen.current);
          wasOpen.current = false;
        }}
      >
        {children ?? <Icon of="more" />}
      </button>
      {isOpen && (
        <div
          ref={list}
          popover="auto"
          role="group"
          aria-label={label}
          onToggle={({ newState }) => newState === "closed" && setOpen(false)}
        >
          {offered.map(([text, run, isBad]) => (
            <button
              key={text}
              type="button"
              class={isBad ? "bad" : ""}
              aria-label={of && `${text} ${of}`}
              onClick={() => {
                list.current?.hidePopover();
                run();
              }}
            >
              {text}
            </button>
          ))}
        </div>
      )}
    </>
  );
}
