import type { Operation } from "../contract/operation.ts";
import { noTestPanel } from "./openapi-operations.ts";
import { operationAnchor } from "./operation-anchor.ts";

/** The styles that override Scalar's on the reference page. The id `reference` gives them higher specificity. */
export function deriveReferenceStyles(operations: readonly Operation[]): string {
  return [COLORS, TABLES, LINES, CONTROLS, BADGES, ...operations.map(stabilityBadge), disabledPanels(operations)].join(
    "\n",
  );
}

/** Text has a contrast of at least 4.5:1 with every background of the page (WCAG 2.2, 1.4.3). */
const COLORS = `
.light-mode {
  --scalar-color-2: #5a5a5a; --scalar-color-3: #666666;
  --scalar-color-green: #00663f; --scalar-color-red: #b3000f; --scalar-color-yellow: #735600;
  --scalar-color-blue: #005a96; --scalar-color-orange: #993600;
}
.dark-mode { --scalar-color-3: #a0a0a0; --scalar-color-red: #ff7a75; }`;

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
