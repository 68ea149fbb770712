import type { ComponentChildren } from "preact";

export type Fact = readonly [name: ComponentChildren, value: ComponentChildren];

/** A list of names and values. Those without a value are left out. */
export function Facts({ of }: { readonly of: readonly Fact[] }) {
  return (
    <dl class="facts">
      {of.map(
        ([name, value], index) =>
          value !== undefined &&
          value !== false && (
            <div key={index}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
