import { type CommandContext, CommandFailed, type ParsedArguments, UsageError } from "./command.ts";
import { plain } from "./plain.ts";

/** The option of commands that ask before they do something irreversible. */
export const yesOption = { yes: { meaning: "Do it without asking." } } as const;

/**
 * Asks the user to confirm something irreversible, unless `--yes` is set. Throws `UsageError` if there is no terminal,
 * and `CommandFailed` if the answer is not yes.
 */
export async function confirm(
  consequence: string,
  { options }: ParsedArguments,
  { ask }: Pick<CommandContext, "ask">,
): Promise<void> {
  if (options["yes"] !== undefined) return;
  if (!ask) throw new UsageError(`${consequence} Add --yes to do it.`);
  const answer = await ask(plain(`${consequence} Type yes to do it: `));
  if (answer.trim().toLowerCase() !== "yes") throw new CommandFailed("not_confirmed", "Nothing was done.");
}
