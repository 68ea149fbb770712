import type { Operation } from "../../src/contract/operation.ts";
import { errorCatalogue } from "../../src/contract/operation-properties.ts";
import { errorLists } from "../../src/derive/markdown.ts";

/** A setting, as far as its reference shows it. */
interface DocumentedSetting {
  readonly fallback: string;
  readonly meaning: string;
  readonly expects: string;
}

/** A kind of log line. */
interface DocumentedLogEvent {
  readonly level: string;
  readonly message: string;
  readonly fields?: readonly string[];
}

/** A command of the command line, as far as its reference shows it. */
interface DocumentedCommand {
  readonly name: string;
  readonly summary: string;
  readonly args?: readonly string[];
}

/** An allowed change of status; `from` is undefined if there is no status yet. */
interface DocumentedTransition {
  readonly from: string | undefined;
  readonly to: string;
  readonly causes: readonly string[];
}

/** The parts of the documentation that are derived from the program, by file and by name of the part. */
export function derivedParts(
  operations: readonly Operation[],
  settings: Readonly<Record<string, DocumentedSetting>>,
  transitions: readonly DocumentedTransition[],
  logEvents: Readonly<Record<string, DocumentedLogEvent>>,
  commands: readonly DocumentedCommand[],
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return {
    "docs/errors.md": { errors: errorLists(errorCatalogue(operations)) },
    "docs/commands.md": { commands: commandList(commands) },
    "docs/monitoring.md": { events: logEventList(logEvents) },
    "docs/settings.md": { settings: settingsList(settings) },
    "docs/status.md": { transitions: transitionTable(transitions) },
  };
}

/** Replaces the content between the two comments that mark the part `name`. */
export function replacePart(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- derived: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The text has no part named ${name}.`);
  return `${text.slice(0, from + start.length)}\n\n${content}\n\n${text.slice(to)}`;
}

function commandList(commands: readonly DocumentedCommand[]): string {
  return commands.map(({ name, args = [], summary }) => `- \`${[name, ...args].join(" ")}\`: ${summary}`).join("\n");
}

function settingsList(settings: Readonly<Record<string, DocumentedSetting>>): string {
  return Object.entries(settings)
    .map(([name, { fallback, meaning, expects }]) => {
      const byDefault = fallback ? ` (\`${fallback}\`)` : "";
      return `- \`${name}\`${byDefault}: ${meaning} Must be ${expects}.`;
    })
    .join("\n");
}

function logEventList(logEvents: Readonly<Record<string, DocumentedLogEvent>>): string {
  const lines = Object.entries(logEvents).map(([name, { level, message, fields = [] }]) => {
    const shown = fields.length > 0 ? ` (${fields.join(", ")})` : "";
    return `- \`${name}\`, ${level}: ${message}${shown}`;
  });
  return lines.join("\n");
}

/** A row for each state that is left, a column for each that is entered. */
function transitionTable(transitions: readonly DocumentedTransition[]): string {
  const before = [...new Set([...transitions.map(({ from }) => from), ...transitions.map(({ to }) => to)])];
  const after = [...new Set(transitions.map(({ to }) => to))];
  const cell = (from: string | undefined, to: string) => {
    const causes = transitions.flatMap((one) => (one.from === from && one.to === to ? one.causes : []));
    return causes.map((cause) => `\`${cause}\``).join(", ") || "–";
  };
  return [
    `| from \\ to |${after.map((to) => ` \`${to}\` |`).join("")}`,
    `| --- |${after.map(() => " --- |").join("")}`,
    ...before.map(
      (from) => `| ${from ? `\`${from}\`` : "none"} |${after.map((to) => ` ${cell(from, to)} |`).join("")}`,
    ),
  ].join("\n");
}
