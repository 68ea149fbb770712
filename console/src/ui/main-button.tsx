import { useShortcut } from "../shortcuts.tsx";

/** The button for what is done most often on a page. `n` presses it. */
export function MainButton({ text, onClick }: { readonly text: string; readonly onClick: () => void }) {
  useShortcut("n", text, onClick);
  return (
    <button type="button" class="main" onClick={onClick}>
      {text}
    </button>
  );
}
