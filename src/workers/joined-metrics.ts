/** The metrics of several workers by worker number, in the Prometheus text format. */
export type WorkerMetrics = readonly { readonly worker: number; readonly text: string }[];

interface Family {
  readonly head: string[];
  readonly samples: string[];
}

/**
 * Joins what workers expose into one text. Each sample gets the label `worker`, because sums would hide a worker that
 * hangs, and would jump back when one is replaced.
 */
export function joinMetrics(exposed: WorkerMetrics): string {
  const families = new Map<string, Family>();
  for (const { worker, text } of exposed) {
    let family: Family | undefined;
    let isNew = false;
    for (const line of text.split("\n")) {
      if (line.startsWith("# HELP ")) {
        const name = line.split(" ", 3)[2] as string;
        family = families.get(name);
        isNew = family === undefined;
        family ??= { head: [], samples: [] };
        families.set(name, family);
      }
      if (line.startsWith("#")) {
        if (isNew) family?.head.push(line);
      } else if (line !== "") family?.samples.push(labelled(line, worker));
    }
  }
  return [...families.values()].map(({ head, samples }) => `${[...head, ...samples].join("\n")}\n`).join("");
}

function labelled(sample: string, worker: number): string {
  const label = `worker="${worker}"`;
  return sample.replace(/^([^{ ]+)(\{)?/, (_all, name: string, brace?: string) =>
    brace ? `${name}{${label},` : `${name}{${label}}`,
  );
}
