import type { Operation } from "../contract/operation.ts";
import { noTestPanel } from "./openapi-operations.ts";
import { operationAnchor } from "./operation-anchor.ts";

/** The styles that the reference page adds to those of Scalar. The id `reference` outranks the latter. */
export function deriveReferenceStyles(operations: readonly Operation[]): string {
  return [TABLES, disabledPanels(operations)].join("\n");
}

/** Words in tables are not broken in the middle, as error codes are to be read; a wide table scrolls by itself. */
const TABLES = `
#reference .markdown table { display: block; overflow-x: auto; }
#reference .markdown :is(th, td) { word-break: normal; overflow-wrap: normal; }
#reference .markdown td code { white-space: nowrap; }`;

/**
 * Shows why an operation has no test panel where the button that opens it would be: the page has a switch
 * for all operations only. Hides the panel's own way from one operation to another, too.
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
