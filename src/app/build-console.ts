import { join } from "node:path";

const sources = join(import.meta.dir, "../../console/src");

/** A file of the console as browsers load it. Its name changes with its content. */
export interface ConsoleFile {
  readonly name: string;
  readonly text: string;
}

/** Builds the console from its sources: one script, one style sheet and the icon. */
export async function buildConsole(): Promise<ConsoleFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: ["main.tsx", "styles/console.css"].map((file) => join(sources, file)),
    naming: { entry: "console-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    minify: true,
  });
  return Promise.all(
    outputs.map(async (output) => ({ name: output.path.replace(/^.*\//, ""), text: await output.text() })),
  );
}
