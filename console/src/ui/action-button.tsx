import { Icon, type IconName } from "./icon.tsx";
import { useShortcut } from "./shortcuts.tsx";

interface ActionButtonProps {
  readonly text: string;
  readonly icon: IconName;
  readonly onClick: () => void;
  /** Only its icon is shown on a telephone. */
  readonly isMain?: boolean;
}

/** An action of a page, with an icon. On a telephone only the icon is shown. */
export function ActionButton({ text, icon, onClick, isMain }: ActionButtonProps) {
  return (
    <button type="button" class={isMain ? "main" : ""} aria-label={text} onClick={onClick}>
      <Icon of={icon} />
      <span class="wide">{text}</span>
    </button>
  );
}

/** The button for what is added on a page. `n` presses it. */
export function AddButton(props: Omit<ActionButtonProps, "icon">) {
  useShortcut("n", props.text, props.onClick);
  return <ActionButton icon="add" {...props} />;
}
