import type { Operation } from "../contract/operation.ts";
import { operationAnchor } from "../contract/operation-properties.ts";
import { noTestPanel } from "./openapi-operations.ts";

/** A paw, drawn inline because the page loads nothing from other hosts. */
const icon =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="#b4470d"><ellipse cx="16" cy="21" rx="8" ry="7"/>' +
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
  const anchors = operations.map((operation) => [operation.name, operationAnchor(operation)]);
  return `${NO_GENERATED_CODE}
${STORAGE}
// A link may name an operation without its tag.
const anchor = new Map(${JSON.stringify(anchors)}).get(location.hash.slice(1));
if (anchor) location.replace("#" + anchor);
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

/** The styles that override Scalar's on the reference page. The id `reference` gives them higher specificity. */
function deriveReferenceStyles(operations: readonly Operation[]): string {
  return [COLORS, TABLES, LINES, CONTROLS, BADGES, ...operations.map(stabilityBadge), disabledPanels(operations)].join(
    "\n",
  );
}

/** The colours and the font of the console. Text has a contrast of at least 4.5:1 with every background (WCAG 2.2, 1.4.3). */
const COLORS = `
:root { --scalar-font: Inter, system-ui, sans-serif; }
.light-mode {
  --scalar-background-1: #ffffff; --scalar-background-2: #faf9f7; --scalar-background-3: #f3f0ea;
  --scalar-border-color: #e9e4dc; --scalar-color-accent: #b4470d;
  --scalar-color-1: #1f1b16; --scalar-color-2: #595249; --scalar-color-3: #665e55;
  --scalar-color-green: #00663f; --scalar-color-red: #b3000f; --scalar-color-yellow: #735600;
  --scalar-color-blue: #005a96; --scalar-color-orange: #993600;
}
.dark-mode {
  --scalar-background-1: #171512; --scalar-background-2: #1f1c18; --scalar-background-3: #2a2620;
  --scalar-border-color: #332e27; --scalar-color-accent: #f08a4b;
  --scalar-color-1: #f2ede5; --scalar-color-2: #c4bbae; --scalar-color-3: #b0a698;
  --scalar-color-red: #ff7a75;
}`;

/**
 * Shows each table row as a paragraph with its last cell below the others. Error codes do not wrap and leave too
 * little room, and a scrolling table is not accessible by keyboard.
 */
const TABLES = `
#reference .markdown thead { display: none; }
#reference .markdown :is(table, tbody, tr, td:last-child) { display: block; width: auto; border: 0; }
#reference .markdown td { border: 0; padding: 0 8px 0 0; word-break: normal; overflow-wrap: normal; }
#reference .markdown td:not(:last-child) { display: inline; }
#reference .markdown td code { white-space: nowrap; }
#reference .markdown tr { padding-block: 8px; }`;

/** Wraps long paths and lines of code, because scrolling areas are not accessible by keyboard. */
const LINES = `
#reference .endpoints, #reference .endpoints * { overflow: visible; white-space: normal; overflow-wrap: anywhere; }
#reference .markdown code.hljs, #reference .markdown code.hljs * { white-space: pre-wrap; overflow-wrap: anywhere; }`;

/**
 * Targets of a pointer are 24 pixels wide and high (WCAG 2.2, 2.5.8). Buttons have a name also while the pointer is
 * elsewhere. The word "Required" has no room beside "Authentication" where a window is 1280 pixels wide.
 */
const CONTROLS = `
:is([data-sidebar-id], [role="dialog"]) button { min-width: 24px; min-height: 24px; }
.scalar-code-copy .sr-only > .hidden { display: inline; }
#reference section[tabindex="-1"]:focus { outline: none; }
#reference [data-testid="auth-indicator"] { display: none; }`;

/** Badges that the document adds look like Scalar's own. That of a removal date is red. */
const BADGES = `
#reference .badge-colored {
  --tone: var(--scalar-color-red); color: var(--tone); background: color-mix(in srgb, var(--tone), transparent 90%);
  border-color: transparent;
}
#reference .badge-colored::first-letter { text-transform: uppercase; }`;

const tones = { beta: "var(--scalar-color-blue)", experimental: "var(--scalar-color-orange)" } as const;

/** The badge of an operation that is not stable, also in the list of operations. */
function stabilityBadge(operation: Operation): string {
  const { stability } = operation;
  if (stability === "stable") return "";
  const tone = tones[stability];
  const anchor = operationAnchor(operation);
  return `#reference [id$="${anchor}"] .badge-colored { --tone: ${tone}; }
[data-sidebar-id$="${anchor}"] [class~="group/button-label"]::after {
  content: "${stability}"; color: ${tone}; background: color-mix(in srgb, ${tone}, transparent 90%);
  display: inline-block; margin-left: 6px; padding: 1px 6px; border-radius: 16px; font-size: 11px; text-transform: capitalize;
}`;
}

/**
 * Shows why an operation has no test panel in place of its button, because the page can disable only all panels.
 * Also hides the panel's links from one operation to another.
 */
function disabledPanels(operations: readonly Operation[]): string {
  const reasons = operations.flatMap((operation) => {
    if (operation.testPanel === true) return [];
    const example = `[id$="${operationAnchor(operation)}"] .examples`;
    const reason = JSON.stringify(noTestPanel(operation.testPanel));
    return `${example} .show-api-client-button { display: none; }
${example} :has(> .show-api-client-button)::before { content: ${reason}; padding: 6px; font-size: 13px; color: var(--scalar-color-2); }`;
  });
  return reasons.length > 0 ? [...reasons, ".scalar-sidebar-toggle { display: none; }"].join("\n") : "";
}
