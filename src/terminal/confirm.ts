import { CommandFailed, type Given, type Terminal, UsageError } from "./command.ts";

/** The option of a command that asks before it does what cannot be undone. */
export const yesOption = { yes: { meaning: "Do it without asking." } } as const;

/**
 * Has the person at the terminal confirm what cannot be undone, unless `--yes` was given. Throws `UsageError` where
 * nobody can be asked, and `CommandFailed` where the answer is not yes.
 */
export async function confirm(consequence: string, { options }: Given, { ask }: Pick<Terminal, "ask">): Promise<void> {
  if (options["yes"] !== undefined) return;
  if (!ask) throw new UsageError(`${consequence} Add --yes to do it.`);
  const answer = await ask(`${consequence} Type yes to do it: `);
  if (answer.trim().toLowerCase() !== "yes") throw new CommandFailed("not_confirmed", "Nothing was done.");
}
