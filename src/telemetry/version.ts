import manifest from "../../package.json" with { type: "json" };

/** The version of the program, from package.json. The one-file executable holds it too. */
export const version: string = manifest.version;

/** What runs the program, with its version. */
export const runtime = `bun ${Bun.version}`;
