import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { store, stored, useWatchable, Watchable } from "../watchable.ts";
import { Dialog } from "./dialog.tsx";

interface Shortcut {
  readonly keys: string;
  readonly meaning: string;
  readonly run: () => void;
}

/** How long the second key of a pair may take, in milliseconds. */
const PAIR_TIME = 1_000;

/** The key that lists them. */
export const LIST = "?";

/** Ctrl and K, or the command key and K. */
export const SEARCH_KEY = "Ctrl+k";

/** Kept for this browser: whether keys without Ctrl do something (WCAG 2.1.4). Voice control types them by mistake. */
const STORED = "petstore-keys";
const areOn = new Watchable(stored(STORED) !== "off");

function turn(isOn: boolean): void {
  areOn.set(isOn);
  store(STORED, isOn ? undefined : "off");
}

const showState = () => document.documentElement.classList.toggle("no-keys", !areOn.value);
areOn.watch(showState);
showState();

export const shortcuts = new Watchable<readonly Shortcut[]>([]);
let first: { key: string; at: number } | undefined;

/** A shortcut of one key, or two such as `g a`, that works while the component is mounted. Without `run` it does nothing. */
export function useShortcut(keys: string, meaning: string, run: (() => void) | undefined): void {
  const latest = useRef(run);
  latest.current = run;
  const isOn = run !== undefined;
  // Before the browser paints: what is on the screen can be used.
  useLayoutEffect(() => {
    if (!isOn) return undefined;
    const shortcut = { keys, meaning, run: () => latest.current?.() };
    shortcuts.set([...shortcuts.value, shortcut]);
    return () => shortcuts.set(shortcuts.value.filter((other) => other !== shortcut));
  }, [keys, meaning, isOn]);
}

const shortcutOf = (pressed: string) => shortcuts.value.findLast(({ keys }) => keys === pressed);

/** Does what a shortcut does, if there is one with these keys. */
export const press = (keys: string): void => shortcutOf(keys)?.run();

function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isTyping = target.matches("input:not([type=checkbox]), select, textarea, [contenteditable]");
  const isCommand = event.metaKey || event.ctrlKey;
  if ((!isCommand && (isTyping || !areOn.value)) || event.altKey || document.querySelector("dialog[open]")) return;
  const key = isCommand ? `Ctrl+${event.key}` : event.key;
  const pair = first && event.timeStamp - first.at < PAIR_TIME ? `${first.key} ${key}` : key;
  first = { key, at: event.timeStamp };
  const shortcut = shortcutOf(pair) ?? shortcutOf(key);
  if (!shortcut) return;
  event.preventDefault();
  first = undefined;
  shortcut.run();
}
addEventListener("keydown", onKey);

/** Lists the shortcuts of the page when the user asks for them. */
export function ShortcutList() {
  const all = useWatchable(shortcuts);
  const isOn = useWatchable(areOn);
  const [isOpen, setOpen] = useState(false);
  useShortcut(LIST, "Keyboard shortcuts", () => setOpen(true));
  if (!isOpen) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
      <div class="ticks intro">
        <label>
          <input type="checkbox" checked={isOn} onChange={() => turn(!isOn)} />
          Keys without Ctrl do something
        </label>
      </div>
      <dl class="shortcuts">
        {all.map(({ keys, meaning }) => (
          <div key={keys}>
            <dt>{meaning}</dt>
            <dd>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
