import { CopyButton } from "./copy-button.tsx";

/** Preformatted text. Long lines scroll. */
export function CodeBlock({
  title,
  text,
  what,
}: {
  readonly title: string;
  readonly text: string;
  readonly what: string;
}) {
  return (
    <section class="code">
      <header>
        <h2>{title}</h2>
        <CopyButton text={text} what={what} />
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard can scroll it only if it has the focus */}
      <pre tabIndex={0} role="region" aria-label={title}>
        {text}
      </pre>
    </section>
  );
}
