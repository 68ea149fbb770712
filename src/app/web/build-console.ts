import { join } from "node:path";

const sources = join(import.meta.dir, "../../../console/src");

/** A file of the console as browsers load it. Its name changes with its content. */
export interface ConsoleFile {
  readonly name: string;
  readonly text: string;
}

/** Makes elements with Preact's `h`: with children as arguments, the console is 300 bytes smaller in brotli. */
const jsx: Bun.BunPlugin = {
  name: "jsx",
  setup(build) {
    const head = '/** @jsxRuntime classic @jsx $h @jsxFrag $F */ import { h as $h, Fragment as $F } from "preact";';
    build.onLoad({ filter: /\.tsx$/ }, async ({ path }) => ({
      contents: head + (await Bun.file(path).text()),
      loader: "tsx",
    }));
  },
};

/**
 * Modules of the client that the console replaces by shorter ones, by name: it does not need what they offer
 * programmers. This saves 600 bytes.
 */
const replacements: Readonly<Record<string, string>> = {
  deprecation: "export const deprecationOf = () => {}, deprecationWarning = deprecationOf;",
  options: `import { systemClock as clock } from "./clock.ts";
    export const readTarget = ({ key, baseUrl }) => ({ key, baseUrl, clock });`,
  errors: `import { defined } from "./defined.ts";
    export class PetstoreError extends Error {
      constructor(message, facts, cause) {
        super(message, { cause });
        Object.assign(this, defined(facts));
      }
    }
    export class ConnectionError extends PetstoreError {}
    export const errorOf = (message, facts) => new (facts.status < 400 ? ConnectionError : PetstoreError)(message, facts);
    export const RateLimitError = PetstoreError;
    export let InvalidRequestError, AuthenticationError, PermissionError, NotFoundError, ConflictError, ServiceError, isErrorOf;`,
};

/** Of the reader of CSV, only its core is used. What is around it (downloads, workers, writing) is left out: 5 kB. */
const csvCore: Bun.BunPlugin = {
  name: "csv-core",
  setup(build) {
    build.onLoad({ filter: /papaparse(\.min)?\.js$/ }, async ({ path }) => {
      const source = await Bun.file(join(path, "../papaparse.js")).text();
      const [core] = /\tfunction escapeRegExp\([^]*?(?=\tfunction newWorker\()/.exec(source) ?? [];
      const names = /\t{4}if \(config\.header [^]*?\n\t{4}\}\n/; // columns are named by other code
      if (!core || !names.test(core)) throw new Error("papaparse has changed: its parser is not found.");
      return {
        contents: `const isFunction = (value) => typeof value === "function";
          const Papa = { BAD_DELIMITERS: ["\\r", "\\n", '"', "\\ufeff"] };
          ${core.replace(names, "")}
          export default { Parser };`,
        loader: "js",
      };
    });
  },
};

const replaceModules: Bun.BunPlugin = {
  name: "replace-modules",
  setup(build) {
    for (const [name, contents] of Object.entries(replacements)) {
      build.onLoad({ filter: new RegExp(`client/src/${name}\\.ts$`) }, () => ({ contents, loader: "ts" }));
    }
  },
};

/** Builds the console from its sources: one script, one style sheet and the icon. */
export async function buildConsole(): Promise<ConsoleFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: ["main.tsx", "styles/console.css"].map((file) => join(sources, file)),
    naming: { entry: "console-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    minify: true,
    plugins: [jsx, csvCore, replaceModules],
  });
  return Promise.all(
    outputs.map(async (output) => ({ name: output.path.replace(/^.*\//, ""), text: await output.text() })),
  );
}

/** The files of the console. A macro. A separate process builds them: a bundler inside the bundler would deadlock. */
export function builtConsole(): ConsoleFile[] {
  const script = join(import.meta.dir, "../../../scripts/print-console.ts");
  const { success, stdout, stderr } = Bun.spawnSync([process.execPath, script]);
  if (!success) throw new Error(`The console cannot be built: ${stderr}`);
  return JSON.parse(stdout.toString()) as ConsoleFile[];
}
