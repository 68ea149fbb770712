/** How long something new under a resting pointer does nothing, in milliseconds. */
const CALM_TIME = 500;
/** How far a resting hand moves the pointer, in CSS pixels. */
const REST = 4;

const CONTROL = "button, a, label, input, select, summary, [role=option], tr, dialog";

interface Click {
  readonly x: number;
  readonly y: number;
  readonly control: Element | null;
  readonly name: unknown;
}

let last: Click | undefined;
let changedAt = -Infinity;

/** Texts that count down change all the time. Elements and the words of buttons change by what somebody does. */
const isChange = ({ target, addedNodes, removedNodes }: MutationRecord) =>
  [...addedNodes, ...removedNodes].some(({ nodeType }) => nodeType === Node.ELEMENT_NODE) ||
  (target as Element).closest("button, a") !== null;

/** What has the focus. */
let focused: Node | undefined;

/** If what had the focus is removed, the dialog that is open gets it, or else the page: so that users can go on there. */
function keepFocus(): void {
  if (focused?.isConnected !== false || document.activeElement !== document.body) return;
  [...document.querySelectorAll<HTMLElement>("#main, dialog[open]")].at(-1)?.focus({ preventScroll: true });
}

const clickOf = ({ clientX: x, clientY: y, target }: MouseEvent): Click => {
  const control = (target as Element).closest(CONTROL);
  const name = control?.matches("button, a") && (control.getAttribute("aria-label") ?? control.textContent);
  return { x, y, control, name };
};

/** Ignores a click where the last one was, if something else has come to lie there just now: a second click means the first. */
function look(event: MouseEvent): void {
  if (event.detail === 0 || !event.isTrusted) return; // of the keyboard, or of a row that is clicked
  const click = clickOf(event);
  const isResting = last && Math.abs(click.x - last.x) <= REST && Math.abs(click.y - last.y) <= REST;
  const isOther = click.control !== last?.control || click.name !== last?.name;
  if (isResting && isOther && performance.now() - changedAt < CALM_TIME) {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else if (event.type === "click") last = click;
}

/**
 * Lets nothing do anything for half a second after it has come to lie under a pointer that has just clicked, and loses no
 * focus.
 */
export function keepCalm(): void {
  const watch = new MutationObserver((records) => {
    if (records.some(isChange)) changedAt = performance.now();
    keepFocus();
  });
  addEventListener("focusin", ({ target }) => (focused = target as Node));
  watch.observe(document.body, { childList: true, subtree: true });
  for (const type of ["mousedown", "click"] as const) addEventListener(type, look, true);
}
