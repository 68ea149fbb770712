import { requestStages } from "../../src/contract/requests.ts";
import { folderImports } from "./imports.ts";

/** The diagrams of docs/architecture.md, in Mermaid, by the names of the parts that they show. */
export function architectureDiagrams(): Readonly<Record<string, string>> {
  return { request: fenced(requestPath()), modules: fenced(modules()) };
}

function fenced(lines: readonly string[]): string {
  return ["```mermaid", ...lines, "```"].join("\n");
}

/** The way of a request. Each stage but the first can end it with a failure. */
function requestPath(): string[] {
  return [
    "flowchart LR",
    '  client([client]) --> server["server.ts"] --> api["api.ts"]',
    `  api --> ${requestStages.join(" --> ")} --> write["response.ts"] --> response([response])`,
    `  handle <--> handler["domain's handler"] <--> store["domain's store"]`,
    `  ${requestStages.slice(1).join(" & ")} -. failure .-> write`,
  ];
}

function modules(): string[] {
  const lines = [...folderImports()].flatMap(([folder, imported]) =>
    imported.length === 0 ? [] : [`  ${folder} --> ${imported.join(" & ")}`],
  );
  return ["flowchart TD", ...lines.toSorted()];
}
