import type { Operation } from "../contract/operation.ts";
import { deriveReferenceStyles } from "./reference-styles.ts";

/** Addresses of what the page loads, all of them on this service. */
interface ReferenceFiles {
  /** The OpenAPI document. */
  readonly document: string;
  /** The bundle of @scalar/api-reference. */
  readonly bundle: string;
  /** The script of `deriveReferenceStart`. */
  readonly start: string;
}

/** A paw, drawn here because the page asks no other host for anything. */
const icon =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="#b45309"><ellipse cx="16" cy="21" rx="8" ry="7"/>' +
      '<circle cx="6" cy="14" r="3.5"/><circle cx="12" cy="7" r="3.5"/><circle cx="20" cy="7" r="3.5"/><circle cx="26" cy="14" r="3.5"/></svg>',
  );

/** The reference page. No script stands in it, so that its content security policy needs no exception. */
export function deriveReferencePage({ bundle, start }: Pick<ReferenceFiles, "bundle" | "start">): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Petstore reference</title>
<link rel="icon" href="${icon}">
</head>
<body>
<noscript>This page needs scripts. The document that it shows is at openapi.json and openapi.yaml.</noscript>
<div id="reference"></div>
<script src="${start}"></script>
<script src="${bundle}"></script>
</body>
</html>
`;
}

/** The script that opens the page once the bundle has loaded: the reference's settings, derived from the operations. */
export function deriveReferenceStart(
  operations: readonly Operation[],
  { document }: Pick<ReferenceFiles, "document">,
): string {
  const settings = {
    url: document,
    theme: "default",
    // Nothing on the page talks to another host.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: "never",
    defaultOpenAllTags: true,
    persistAuth: false, // a key is not left behind in a shared browser
    authentication: { preferredSecurityScheme: "bearerAuth" },
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
    customCss: deriveReferenceStyles(operations),
  };
  // Zod, a part of the bundle, otherwise tries whether the page's policy allows it to make functions of
  // texts. It does not, and each try would be reported as a violation.
  // The anchors are the operations' names, which links in responses use too.
  // Inputs of the test panel do not say that their list of suggestions is closed, and some of its buttons
  // have no role: screen readers need both (WCAG 2.2, 4.1.2).
  return `globalThis.__zod_globalConfig = { jitless: true };
addEventListener("DOMContentLoaded", () =>
  Scalar.createApiReference("#reference", {
    ...${JSON.stringify(settings)},
    generateTagSlug: ({ name }) => name,
    generateOperationSlug: ({ operationId }) => operationId,
  }),
);
new MutationObserver(() => {
  for (const input of document.querySelectorAll("[role=combobox]:not([aria-expanded])")) input.ariaExpanded = "false";
  for (const button of document.querySelectorAll("button[role=none]")) button.removeAttribute("role");
}).observe(document, { childList: true, subtree: true, attributeFilter: ["aria-expanded", "role"] });
`;
}
