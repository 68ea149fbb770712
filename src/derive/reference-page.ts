import type { Operation } from "../contract/operation.ts";
import { deriveReferenceStyles } from "./reference-styles.ts";

/** A paw, drawn inline because the page loads nothing from other hosts. */
const icon =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="#b45309"><ellipse cx="16" cy="21" rx="8" ry="7"/>' +
      '<circle cx="6" cy="14" r="3.5"/><circle cx="12" cy="7" r="3.5"/><circle cx="20" cy="7" r="3.5"/><circle cx="26" cy="14" r="3.5"/></svg>',
  );

/**
 * The reference page. It has no inline script, so its content security policy allows none. `bundle` is the address
 * of @scalar/api-reference on this service, and `start` that of the script of `deriveReferenceStart`.
 */
export function deriveReferencePage(bundle: string, start: string): string {
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

/**
 * The script that opens the page once the bundle has loaded: the settings of @scalar/api-reference, derived from the
 * operations. `url` is the address of the OpenAPI document on this service.
 */
export function deriveReferenceStart(operations: readonly Operation[], url: string): string {
  const settings = {
    url,
    theme: "default",
    // The page contacts only the documented servers.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: "never",
    defaultOpenAllTags: true,
    persistAuth: false, // do not leave a key in a shared browser
    authentication: { preferredSecurityScheme: "bearerAuth" },
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
    customCss: deriveReferenceStyles(operations),
  };
  return `${NO_GENERATED_CODE}
${STORAGE}
${CLIPBOARD}
addEventListener("DOMContentLoaded", () =>
  Scalar.createApiReference("#reference", {
    ...${JSON.stringify(settings)},
    ${ANCHORS}
  }),
);
${ROLES}
`;
}

/**
 * Zod, which is part of the bundle, otherwise tests whether the page's policy allows `new Function`. It does not, and
 * each test would be reported as a violation.
 */
const NO_GENERATED_CODE = "globalThis.__zod_globalConfig = { jitless: true };";

/**
 * The bundle reads the browser's storage and does not start if that throws, as it does in the page's sandbox and wherever
 * users block it. It gets one in memory instead.
 */
const STORAGE = `for (const name of ["localStorage", "sessionStorage"]) {
  try {
    window[name].length;
  } catch {
    const items = new Map();
    const value = {
      get length() { return items.size; },
      key: (index) => [...items.keys()][index] ?? null,
      getItem: (key) => items.get(String(key)) ?? null,
      setItem: (key, item) => void items.set(String(key), String(item)),
      removeItem: (key) => void items.delete(String(key)),
      clear: () => items.clear(),
    };
    Object.defineProperty(window, name, { value });
  }
}`;

/** The page's sandbox denies this interface of the clipboard to the bundle, but not a copy on a click. */
const CLIPBOARD = `if (navigator.clipboard) {
  navigator.clipboard.writeText = async (text) => {
    const put = (event) => {
      event.preventDefault();
      event.clipboardData.setData("text/plain", text);
    };
    document.addEventListener("copy", put, { once: true });
    if (!document.execCommand("copy")) throw new Error("Nothing was copied.");
  };
}`;

/** The anchors that `operationAnchor` returns. Links in responses use them too. */
const ANCHORS = `generateTagSlug: ({ name }) => name,
    generateOperationSlug: ({ operationId }) => operationId,`;

/**
 * Inputs of the test panel do not expose that their list of suggestions is closed, and some of its buttons have no role.
 * Screen readers need both (WCAG 2.2, 4.1.2).
 */
const ROLES = `new MutationObserver(() => {
  for (const input of document.querySelectorAll("[role=combobox]:not([aria-expanded])")) input.ariaExpanded = "false";
  for (const button of document.querySelectorAll("button[role=none]")) button.removeAttribute("role");
}).observe(document, { childList: true, subtree: true, attributeFilter: ["aria-expanded", "role"] });`;
