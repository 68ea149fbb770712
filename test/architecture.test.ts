// Who may import whom. A rule here has a reason; code that breaks one is in the wrong place.
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { architectureDiagrams } from "../scripts/derive/diagrams.ts";
import { replacePart } from "../scripts/derive/docs.ts";
import {
  sourceFiles as files,
  folderImports,
  importsOf,
  leaves,
  program,
  sourceRoot as root,
} from "../scripts/derive/imports.ts";

/** The ways that lead from a node back to it. */
function cyclesOf(nodes: readonly string[], next: (node: string) => readonly string[]): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) cycles.push([...path.slice(path.indexOf(node)), node].join(" → "));
    if (done.has(node) || path.includes(node)) return;
    for (const name of next(node)) visit(name, [...path, node]);
    done.add(node);
  };
  for (const node of nodes) visit(node, []);
  return cycles;
}

interface Rule {
  readonly of: RegExp;
  readonly may: RegExp;
  readonly because: string;
}

const rules: readonly Rule[] = [
  {
    of: /^contract\//,
    may: /^(contract\/|typebox|fastest-levenshtein$|node:util$)/,
    because: "the contract is pure values and knows only the schema library",
  },
  {
    of: /\.(operations|schemas)\.ts$/,
    may: /^(contract\/|typebox|domains\/[\w/-]+\.(operations|schemas)\.ts$)/,
    because: "operations are pure: no driver and no store can be reached from them",
  },
  {
    of: /\.handlers\.ts$/,
    may: /^(contract\/|domains\/|timing\/|storage\/(transaction|pages)\.ts$)/,
    because: "a handler uses its own operations, its own store and the steps of transactions",
  },
  {
    of: /\.(store|statements)\.ts$/,
    may: /^(contract\/|domains\/|files\/|limits\/|http\/interfaces\.ts$|storage\/(storage|statement|transaction|combined-steps|errors|table|pages|prefix|row-mapping|versions|environment)\.ts$)/,
    because: "a store uses the interface of the storage, not an engine",
  },
  {
    of: /\.settings\.ts$/,
    may: /^(settings\/|http\/input\/client-address\.ts$)/,
    because: "a domain declares its settings, and nobody else reads them",
  },
  {
    of: /\.command\.ts$/,
    may: /^(contract\/|domains\/|files\/|settings\/|terminal\/|storage\/(storage|statement|transaction|combined-steps|errors)\.ts$|node:)/,
    because: "a command of a domain gets the store and the settings from its context",
  },
  {
    of: /\.domain\.ts$/,
    may: /^(contract\/|domains\/|settings\/|storage\/storage\.ts$)/,
    because: "the definition of a domain joins its parts, and gets those of the service from its host",
  },
  {
    of: /^domains\//,
    may: /^(?!app\/|cli\/|config|derive\/|mcp\/|storage\/(postgres\/|sqlite\/|step\.ts))/,
    because: "a domain makes no step, and knows no engine and nothing that is made from domains",
  },
  {
    of: /^domains\/domain\.ts$/,
    may: /^(contract\/|settings\/|storage\/(storage|table)\.ts$|terminal\/command\.ts$)/,
    because: "what a domain is uses interfaces, not the parts that implement them",
  },
  {
    of: /^settings\//,
    may: /^settings\//,
    because: "how settings are read does not depend on which there are",
  },
  {
    of: /^terminal\//,
    may: /^(terminal\/|contract\/|settings\/|storage\/(storage|statement|transaction|combined-steps|errors)\.ts$)/,
    because: "the definition of a command uses interfaces, and no command",
  },
  {
    of: /^config(\.ts$|\/)/,
    may: /^(config\/|settings\/|http\/input\/client-address\.ts$|limits\/valkey\/valkey-url\.ts$|storage\/postgres\/address\.ts$|node:path$)/,
    because: "the settings of the service know the forms of addresses, and no domain",
  },
  {
    of: /^derive\//,
    may: /^(contract\/|derive\/|typebox|yaml$|node:util$|@scalar\/)/,
    because: "what is derived follows from the operations alone",
  },
  {
    of: /^http\//,
    may: /^(contract\/|http\/|typebox|node:|@scalar\/)/,
    because: "http declares the interfaces that it needs, and knows no domain and no store",
  },
  {
    of: /^mcp\//,
    may: /^(mcp\/|contract\/|derive\/|http\/|files\/lines\.ts$|settings\/|terminal\/|typebox$|node:timers\/promises$|@modelcontextprotocol\/server$)/,
    because: "tools for assistants reach operations through the stages of http alone",
  },
  {
    of: /^verify\//,
    may: /^(verify\/|contract\/|settings\/|terminal\/|\.\.\/client\/src\/index\.ts$|typebox|node:)/,
    because: "what verifies a service shares nothing with it but the contract and the client",
  },
  {
    of: /^limits\//,
    may: /^(limits\/|contract\/(bans|limits)\.ts$|http\/interfaces\.ts$|storage\/(storage|statement|table|transaction|combined-steps|errors)\.ts$|ioredis$|node:crypto$)/,
    because: "the limiter implements an interface of http, and uses the interface of the storage",
  },
  { of: /^collections\//, may: /^collections\//, because: "a map knows no part that uses it" },
  {
    of: /^timing\//,
    may: /^(timing\/|node:fs$)/,
    because: "clocks and timeouts belong to no part",
  },
  {
    of: /^storage\//,
    may: /^(storage\/|files\/(durable-files|room)\.ts$|bun(:sqlite)?$|node:)/,
    because: "drivers are imported in storage/ and nowhere else",
  },
  {
    of: /^files\//,
    may: /^(files\/|node:)/,
    because: "reading and writing files knows neither animals nor a store",
  },
  { of: /^telemetry\//, may: /^(node:|\.\.\/package\.json$)/, because: "log and metrics belong to no part" },
  { of: /^main\.ts$/, may: /^(cli\/|node:)/, because: "main is the door: argv, environment, signals" },
];

/**
 * Domains that may import one other, by name: a key and what is counted exist only as part of an account, and a key's
 * quota is read with it in one query. Accounts import neither. A category that is deleted moves its animals, and a
 * sandbox counts them.
 */
const ownerOf: Readonly<Record<string, string>> = {
  keys: "accounts",
  usage: "accounts",
  requests: "accounts",
  orders: "pets",
  categories: "pets",
  sandbox: "pets",
};

/** What every domain may use: the lock of a shop, the log to which each change is added, and pairs of a resource. */
const ofAll = ["metadata", "shops", "events"];

/** The domain that a file is part of, if any. */
function domainOf(file: string): string | undefined {
  return /^domains\/([^/]+)\//.exec(file)?.[1];
}

const importersOf = (imported: RegExp) => program.filter((file) => importsOf(file).some((name) => imported.test(name)));

/** What follows the parenthesis that closes the one before `from`. */
function afterParentheses(text: string, from: number): string {
  let end = from;
  for (let open = 1; open > 0 && end < text.length; end++) open += text[end] === "(" ? 1 : text[end] === ")" ? -1 : 0;
  return text.slice(end);
}

describe("imports", () => {
  test.each(rules.map((rule) => [rule.because, rule] as const))("%s", (_because, { of, may }) => {
    const concerned = program.filter((file) => of.test(file));
    expect(concerned).not.toBeEmpty();
    const wrong = concerned.flatMap((file) =>
      importsOf(file)
        .filter((name) => !may.test(name) && !leaves.test(name))
        .map((name) => `${file} imports ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test("drivers are imported in storage/ and limits/ only", () => {
    const drivers = /^(bun|bun:sqlite|ioredis)$/;
    const elsewhere = program.filter(
      (file) => !/^(storage|limits)\//.test(file) && importsOf(file).some((name) => drivers.test(name)),
    );
    expect(elsewhere).toEqual([]);
  });

  test("what speaks the protocol of assistants is loaded with the first message", () => {
    expect(importersOf(/^@modelcontextprotocol\//)).toEqual(["mcp/answer.ts"]);
    const importing = program.filter((file) =>
      /^import [^;]*"\.\/answer\.ts"/m.test(readFileSync(join(root, file), "utf8")),
    );
    expect(importing).toEqual(["mcp/endpoint.ts"]); // types
    expect(readFileSync(join(root, "mcp/endpoint.ts"), "utf8")).toContain("import type { AnswerMessage, Ask } from");
  });

  test("no step is forgotten: in domains and limits, no statement calls a function of steps without `yield*`", () => {
    const comments = /\/\*[^]*?\*\/|\/\/.*/g;
    const texts = program.map((file) => [file, readFileSync(join(root, file), "utf8").replace(comments, "")] as const);
    const named = (pattern: RegExp) => texts.flatMap(([, text]) => [...text.matchAll(pattern)].map(([, name]) => name));
    // Those that are no generators themselves, and say that they return steps.
    const givingSteps = (pattern: RegExp) =>
      texts.flatMap(([, text]) =>
        [...text.matchAll(pattern)]
          .filter(({ 0: head, index }) =>
            /^: (?:Read|Query|Change|Steps)</.test(afterParentheses(text, index + head.length)),
          )
          .map(([, name]) => name),
      );
    const functions = [...named(/function\* (\w+)/g), ...givingSteps(/function (\w+)(?:<[^(]*>)?\(/g)];
    const methods = [...named(/^ {2}\*(#?\w+)[(<]/gm), ...givingSteps(/^ {2}(#?\w+)(?:<[^(]*>)?\(/gm)];
    expect(functions).toEqual(expect.arrayContaining(["all", "publish", "countInCategories"]));
    expect(methods).toEqual(expect.arrayContaining(["reset", "#page"]));
    const ofOthers = new Set(["add", "delete", "follow", "refusalOf", "whyRefused"]); // maps and others have them, too
    const calls = [
      /(?:[;{})]|\belse)\s+((?:[\w#]+\.)*)(#?\w+)\(/g,
      /[;{}]\s+(?!return|yield)[^;={}()]*\.(?:map|forEach)\(.*=> ((?:[\w#]+\.)*)(#?\w+)\(/g,
    ];
    const forgotten = texts
      .filter(([file]) => /^(domains|limits)\//.test(file))
      .flatMap(([file, text]) =>
        calls.flatMap((call) => [...text.matchAll(call)].map(([, of, name = ""]) => ({ file, of, name }))),
      )
      .filter(({ of, name }) => functions.includes(name) || (of !== "" && methods.includes(name)))
      .filter(({ name }) => !ofOthers.has(name));
    // In a handler, no statement calls a method at all.
    const ofStores = texts
      .filter(([file]) => file.endsWith(".handlers.ts"))
      .flatMap(([file, text]) => [...text.matchAll(/[;{}]\s+(\w[\w.#]*\.\w+)\(/g)].map(([, name]) => ({ file, name })));
    expect([...forgotten, ...ofStores]).toEqual([]);
  });

  test("responses are made where large bodies are sent in pieces and counted", () => {
    const bodies = /new Response\((?!null\b)|Response\.json\(|new Blob\(/;
    const making = program.filter((file) => bodies.test(readFileSync(join(root, file), "utf8")));
    expect(making.toSorted()).toEqual([
      "http/response/fixed-content.ts",
      "http/response/response.ts",
      "http/response/web-content.ts",
    ]);
    expect(importersOf(/^http\/response\/response\.ts$/).filter((file) => !/^(http|mcp)\//.test(file))).toEqual([]);
  });

  test("contract, derive and http do not name a domain", () => {
    const domains = readdirSync(join(root, "domains"));
    const general = program.filter((file) => /^(contract|derive|http)\//.test(file));
    const naming = general.filter((file) =>
      importsOf(file).some((name) => domains.some((domain) => name.includes(`domains/${domain}`))),
    );
    expect(naming).toEqual([]);
  });

  test("a domain is defined in its own file, and one file lists the domains", () => {
    expect(importersOf(/\.handlers\.ts$/).filter((file) => !/^domains\/.*\.domain\.ts$/.test(file))).toEqual([]);
    expect(importersOf(/\.domain\.ts$/)).toEqual(["app/domains.ts"]);
  });

  test("a domain imports from no other except the one that owns its data", () => {
    const wrong = program.flatMap((file) => {
      const own = domainOf(file);
      if (own === undefined) return [];
      const others = importsOf(file).filter(
        (name) =>
          /^domains\/(?!domain\.ts$)/.test(name) && ![own, ownerOf[own], ...ofAll].includes(domainOf(name) ?? name),
      );
      return others.map((name) => `${file}: ${name}`);
    });
    expect(wrong).toEqual([]);
    expect(Object.values(ownerOf).filter((owner) => owner in ownerOf)).toEqual([]);
  });

  test("a domain writes to no table of another except the row of a shop and its log, and reads few others by SQL", () => {
    const texts = program.flatMap((file) => {
      const own = domainOf(file);
      return own === undefined ? [] : [{ file, own, text: readFileSync(join(root, file), "utf8") }];
    });
    const tables = texts.flatMap(({ own, text }) =>
      [...text.matchAll(/(?:const (\w+) = )?\btable\(\s*"(\w+)"/g)].flatMap(([, ...names]) =>
        names.map((name) => [name, own] as const),
      ),
    );
    const domainOfTable = new Map(tables);
    expect([domainOfTable.get("pets"), domainOfTable.get("petTable")]).toEqual(["pets", "pets"]);
    const foreign = texts.flatMap(({ file, own, text }) =>
      [...text.matchAll(/\b(FROM|JOIN|INSERT INTO|UPDATE|DELETE\s+FROM|insertInto\()\s*(\w+)/g)]
        .map(([, verb = "", name = ""]) => ({ file, own, name, isWritten: verb !== "FROM" && verb !== "JOIN" }))
        .filter((use) => (domainOfTable.get(use.name) ?? own) !== own),
    );
    const written = new Set(foreign.filter(({ isWritten }) => isWritten).map(({ name }) => name));
    expect([...written].toSorted()).toEqual(["eventTable", "shops"]);
    const reading = foreign.filter(({ own, name }) => ![ownerOf[own], ...ofAll].includes(domainOfTable.get(name)));
    expect([...new Set(reading.map(({ file, name }) => `${file}: ${name}`))].toSorted()).toEqual([
      "domains/sandbox/sandbox.store.ts: categories", // how many a sandbox has
      "domains/shops/shop-options.ts: accounts", // the only one, if a command names none
      "domains/shops/shops.statements.ts: api_keys", // the shop of a key
      "domains/webhooks/dispatch/dispatch.statements.ts: accounts", // suspended ones get no messages
    ]);
  });

  test("there is no cycle between files", () => {
    expect(cyclesOf(program, (file) => importsOf(file).filter((name) => existsSync(join(root, name))))).toEqual([]);
  });

  test.each(["client/src", "console/src", "bench"])("there is no cycle between files of %s", (folder) => {
    const place = join(root, "..", folder);
    const own = readdirSync(place, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
    expect(own.length).toBeGreaterThan(10);
    expect(cyclesOf(own, (file) => importsOf(file, place).filter((name) => own.includes(name)))).toEqual([]);
    const fromService = own.flatMap((file) => importsOf(file, place)).filter((name) => /^(\.\.\/)+src\//.test(name));
    expect(folder === "bench" ? [] : fromService).toEqual([]);
  });

  test("there is no cycle between folders: each is above those that it imports", () => {
    const below = folderImports();
    expect(cyclesOf([...below.keys()], (folder) => below.get(folder) ?? [])).toEqual([]);
  });
});

describe("files", () => {
  test("have names that describe their content", () => {
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\.|\/)/.test(file))).toEqual([]);
  });

  test("in the root of src are only the entry point and the settings", () => {
    expect(files.filter((file) => !file.includes("/")).toSorted()).toEqual(["config.test.ts", "config.ts", "main.ts"]);
  });

  test("are short enough to read", () => {
    const long = program.filter((file) => readFileSync(join(root, file), "utf8").split("\n").length > 400);
    expect(long).toEqual([]);
  });
});

test("the diagrams match the stages and the imports", () => {
  const page = readFileSync(join(root, "../docs/architecture.md"), "utf8");
  let expected = page;
  for (const [name, content] of Object.entries(architectureDiagrams())) expected = replacePart(expected, name, content);
  expect(page).toBe(expected);
});

test("the page names the files that the diagram of modules leaves out", () => {
  const page = readFileSync(join(root, "../docs/architecture.md"), "utf8");
  const [, sentence = ""] = /The diagram leaves out what any part may use: (.*)/.exec(page) ?? [];
  const named = [...sentence.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => new Bun.Glob(name.replace(/\/$/, "/**")));
  expect(program.filter((file) => named.some((glob) => glob.match(file)))).toEqual(
    program.filter((file) => leaves.test(file)),
  );
});
