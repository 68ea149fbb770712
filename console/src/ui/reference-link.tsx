import { root } from "../router.tsx";

/** Leads to an operation in the reference page, in a new tab. */
export const ReferenceLink = ({ of }: { readonly of: string }) => (
  <a class="reference" href={`${root}docs#${of}`} target="_blank">
    Open {of} in the reference
  </a>
);
