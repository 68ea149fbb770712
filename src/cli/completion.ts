import type { ProgramCommand } from "./program-command.ts";

/** The command that prints a completion script. `commands` returns all commands when it runs. */
export function completionCommand(commands: () => readonly ProgramCommand[]): ProgramCommand {
  return {
    name: "completion bash",
    summary: "Print a script with which bash completes commands and options.",
    description: "Load it in ~/.bashrc: source <(petstore completion bash)",
    example: "completion bash",
    run: () => {
      const text = bashScript(commands());
      return { json: { script: text }, text };
    },
  };
}

function bashScript(commands: readonly ProgramCommand[]): string {
  const groups = Map.groupBy(commands, ({ name }) => name.split(" ")[0] as string);
  return `# Completes the commands of petstore. Load it: source <(petstore completion bash)
_petstore() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local options="" values="" takes_arguments="" words=""
  if ((COMP_CWORD == 1)); then
    words="${[...groups.keys(), "--help", "--version"].join(" ")}"
  else
    case "\${COMP_WORDS[1]}" in
${[...groups].map(([first, own]) => groupCase(first, own)).join("\n")}
    esac
  fi
  COMPREPLY=()
  # Nothing to offer: bash then completes the names of files.
  [[ " $values " == *" $previous "* ]] && return
  if [[ -z "$words" ]]; then
    [[ -n "$takes_arguments" && "$current" != -* ]] && return
    words="$options"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _petstore petstore`;
}

/** The case of a first word: a command, or several that share it. */
function groupCase(first: string, own: readonly ProgramCommand[]): string {
  const [only] = own;
  if (only?.name === first) return `      ${first}) ${assignments(only)} ;;`;
  const seconds = own.map((command) => [command.name.slice(first.length + 1), command] as const);
  return `      ${first})
        if ((COMP_CWORD == 2)); then
          words="${seconds.map(([second]) => second).join(" ")}"
        else
          case "\${COMP_WORDS[2]}" in
${seconds.map(([second, command]) => `            ${second}) ${assignments(command)} ;;`).join("\n")}
          esac
        fi
        ;;`;
}

/** The shell variables of one command: its options, those that take a value, and whether it takes arguments. */
function assignments({ options = {}, args = [] }: ProgramCommand): string {
  const all = [...Object.keys(options), "json", "help"].map((name) => `--${name}`);
  const values = Object.entries(options).flatMap(([name, { value }]) => (value === undefined ? [] : [`--${name}`]));
  return [
    `options="${all.join(" ")}"`,
    ...(values.length > 0 ? [`values="${values.join(" ")}"`] : []),
    ...(args.length > 0 ? ["takes_arguments=1"] : []),
  ].join(" ");
}
