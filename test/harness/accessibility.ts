import axe from "axe-core";
import type { Page } from "playwright-core";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Otherwise axe-core would see what appears, or gets other colours, on the way. What never ends goes on. */
const endAnimations = `for (const animation of document.getAnimations()) {
  if (animation.effect.getComputedTiming().endTime < Infinity) animation.finish();
}`;

/**
 * What axe-core finds against WCAG 2.2, levels A and AA, on the current page in light and in dark colours: the rule and
 * the element of each violation. `within` is the selector of the part to look at.
 */
export async function accessibilityViolations(page: Page, within = "html"): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`"axe" in window`))) await page.evaluate(axe.source); // it takes longer than a run
  const found: string[] = [];
  // Only contrasts depend on the colours.
  for (const [colorScheme, runOnly] of [
    ["dark", ["color-contrast"]],
    ["light", tags],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(endAnimations);
    const options = { runOnly, resultTypes: ["violations"], preload: false };
    const violations = await page.evaluate<string[]>(`
      axe.run('${within}', ${JSON.stringify(options)}).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ": " + target.join(" "))))`);
    found.push(...violations.map((violation) => `${violation} (${colorScheme})`));
  }
  return found;
}
