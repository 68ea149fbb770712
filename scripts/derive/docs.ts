/** A setting, as far as its reference shows it. */
interface DocumentedSetting {
  readonly fallback: string;
  readonly meaning: string;
}

/** A kind of log line. */
interface DocumentedLogEvent {
  readonly level: string;
  readonly message: string;
  readonly fields?: readonly string[] | "any";
}

/** The parts of the documentation that are derived from the program, by file and by name of the part. */
export function derivedParts(
  settings: Readonly<Record<string, DocumentedSetting>>,
  logEvents: Readonly<Record<string, DocumentedLogEvent>>,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return {
    "docs/monitoring.md": { events: logEventList(logEvents) },
    "docs/settings.md": { settings: settingsList(settings) },
  };
}

/** Replaces the content between the two comments that mark the part `name`. */
export function replacePart(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- derived: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The text has no part named ${name}.`);
  return `${text.slice(0, from + start.length)}\n\n${content}\n\n${text.slice(to)}`;
}

function settingsList(settings: Readonly<Record<string, DocumentedSetting>>): string {
  return Object.entries(settings)
    .map(([name, { fallback, meaning }]) => {
      const byDefault = fallback ? ` (\`${fallback}\`)` : "";
      return `- \`${name}\`${byDefault}: ${meaning}`;
    })
    .join("\n");
}

/** The events that may need somebody. The others say in their lines what they mean. */
function logEventList(logEvents: Readonly<Record<string, DocumentedLogEvent>>): string {
  const serious = Object.entries(logEvents).filter(([, { level }]) => level === "warn" || level === "error");
  const lines = serious.map(([name, { level, message, fields = [] }]) => {
    const shown = Array.isArray(fields) && fields.length > 0 ? ` (${fields.join(", ")})` : "";
    return `- \`${name}\`, ${level}: ${message}${shown}`;
  });
  return lines.join("\n");
}
