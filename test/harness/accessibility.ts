import axe from "axe-core";
import type { Page } from "playwright-core";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/**
 * What axe-core finds against WCAG 2.2, levels A and AA, on the current page: the rule and the element of each
 * violation. `within` is the selector of the part to look at.
 */
export async function accessibilityViolations(page: Page, within = "html"): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate<string[]>(`
    axe.run('${within}', { runOnly: ${JSON.stringify(tags)}, resultTypes: ["violations"] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ": " + target.join(" "))))`);
}
