import { didYouMean, suggest } from "../contract/messages.ts";
import type { Settings } from "../settings/setting.ts";
import { UsageError } from "../terminal/command.ts";
import { columns } from "../terminal/output.ts";
import type { ProgramCommand } from "./program-command.ts";

/** All commands of the program: finds the one that a command line names, and lists them. */
export class CommandTable {
  readonly #commands: readonly ProgramCommand[];

  constructor(commands: readonly ProgramCommand[]) {
    this.#commands = commands;
  }

  /** The command that the words start with; undefined if they ask for the overview. Throws `UsageError`. */
  find(words: readonly string[]): ProgramCommand | undefined {
    const command = this.#commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
    if (command) return command;
    const [first = "--help", second] = words;
    const hasMore = this.#secondWords(first).length > 0;
    if (isHelp(first) || (hasMore && (second === undefined || isHelp(second)))) return undefined;
    const wanted = hasMore ? `${first} ${second}` : first;
    throw new UsageError(`${wanted} is not a command.${didYouMean(this.#meant(first, second))}`);
  }

  /** All commands and settings, as the program's help shows them. */
  overview(invocation: string, settings: Settings): string {
    return [
      "Petstore: an HTTP/JSON service for the animals of a pet store.\n",
      `Usage: ${invocation} COMMAND [OPTIONS]`,
      `       ${invocation} --version\n`,
      "Commands, each with --help and --json:\n",
      columns(this.#commands.map(({ name, args = [], summary }) => [`  ${[name, ...args].join(" ")}`, summary])),
      "\nSettings, in the environment:\n",
      columns(
        Object.entries(settings).map(([name, { fallback, meaning, expects }]) => [
          `  ${name}`,
          fallback || "(unset)",
          `${firstSentence(meaning).replaceAll("`", "")} Must be ${expects}.`,
        ]),
      ),
    ].join("\n");
  }

  /** The second words of all two-word commands that start with this word, such as those of `keys`. */
  #secondWords(first: string): string[] {
    return this.#commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
  }

  /** The command that was probably meant by words that are not a command. */
  #meant(first: string, second = ""): string | undefined {
    const names = this.#commands.map(({ name }) => name);
    const seconds = this.#secondWords(first);
    if (seconds.length > 0) {
      const meant = suggest(second, seconds);
      return meant && `${first} ${meant}`;
    }
    const pairs = names.filter((name) => name.includes(" "));
    const firsts = names.map((name) => name.split(" ")[0] as string);
    const pair = /^[^-]/.test(second) ? suggest(`${first} ${second}`, pairs) : undefined;
    return pair ?? suggest(first, [...firsts, ...pairs, "help", "--help", "--version"]);
  }
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.) /)[0] ?? "";
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h" || word === "help";
}
