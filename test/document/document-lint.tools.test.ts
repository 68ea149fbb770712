// What linters of others say of the document as production publishes it: nothing that is not explained.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";

/* oxlint-disable typescript/no-explicit-any -- the tests say what they expect of the document */
const root = join(import.meta.dir, "../..");

/** A finding that stays. `at` is a pattern of its path, `onlyIf` the format of the schema there. */
interface Exception {
  readonly linter: string;
  readonly rule: string;
  readonly at: string;
  readonly onlyIf?: string;
  readonly reason: string;
}

interface Finding {
  readonly linter: string;
  readonly rule: string;
  readonly path: readonly string[];
  readonly message: string;
}

const exceptions = JSON.parse(readFileSync(join(interopFolder, "lint-exceptions.json"), "utf8")) as Exception[];

let folder: string;
let document: any;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "petstore-lint-"));
  const settings = {
    PETSTORE_ENV: "production",
    PETSTORE_BASE_URL: "https://petstore.invalid/v1",
    PETSTORE_STAGING_BASE_URL: "https://staging.petstore.invalid/v1",
  };
  document = JSON.parse(await output([process.execPath, "src/main.ts", "openapi", "--json"], root, settings));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a command writes, whatever its exit status: linters have one for findings. */
async function output(command: string[], cwd: string, settings: Record<string, string> = {}): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", ...settings };
  const child = Bun.spawn(command, { cwd, env, stdout: "pipe", stderr: "ignore" });
  return new Response(child.stdout).text();
}

const linters = {
  async spectral(file: string): Promise<Finding[]> {
    const command = ["node_modules/.bin/spectral", "lint", "--ruleset", "spectral.yaml", "--format", "json", file];
    const found = JSON.parse(await output(command, interopFolder)) as any[];
    return found.map(({ code, path, message }) => ({
      linter: "spectral",
      rule: code,
      path: path.map(String),
      message,
    }));
  },
  async redocly(file: string): Promise<Finding[]> {
    const options = ["--extends", "recommended-strict", "--format", "json", "--max-problems", "1000"];
    const found: any = JSON.parse(await output(["node_modules/.bin/redocly", "lint", ...options, file], root));
    return found.problems.map(({ ruleId, location, message }: any) => ({
      linter: "redocly",
      rule: ruleId,
      path: (location[0].pointer as string)
        .split("/")
        .slice(1)
        .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~")),
      message,
    }));
  },
};

async function lint(linter: keyof typeof linters, text: unknown): Promise<Finding[]> {
  const file = join(folder, `${crypto.randomUUID()}.json`);
  await Bun.write(file, JSON.stringify(text));
  return linters[linter](file);
}

/** The names of the schemas that a part of the document refers to, directly or through others. */
function schemasOf(part: unknown, known = new Set<string>()): Set<string> {
  for (const [, kind, name = ""] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
    if (known.has(`${kind}/${name}`)) continue;
    known.add(`${kind}/${name}`);
    schemasOf(document.components[kind as string][name], known);
  }
  return known;
}

/** The path of a finding. Schemas that no request has are told from those that one has. */
function placeOf({ path }: Finding, ofRequests: ReadonlySet<string>): string {
  const isOfResponses = path[1] === "schemas" && !ofRequests.has(`schemas/${path[2]}`);
  return (isOfResponses ? ["components", "response-schemas", ...path.slice(2)] : path).join("/");
}

function explains(exception: Exception, finding: Finding, ofRequests: ReadonlySet<string>): boolean {
  const { format } = finding.path.reduce((node, token) => node?.[token], document) ?? {};
  return (
    exception.linter === finding.linter &&
    exception.rule === finding.rule &&
    new RegExp(exception.at).test(placeOf(finding, ofRequests)) &&
    (exception.onlyIf === undefined || exception.onlyIf === format)
  );
}

/** True for what the test has planted. */
const isPlanted = ({ path }: Finding) => path[1] === "/planted" || path[2] === "Planted";

describe.each([
  ["redocly", true],
  ["spectral", hasInteropTools()],
] as const)("%s", (linter, isThere) => {
  // One run for both, because it takes long: the faults are planted next to the document as it is.
  test.skipIf(!isThere)("finds seeded mistakes and no undocumented ones", async () => {
    const ofRequests = schemasOf(
      Object.values<any>(document.paths).flatMap((item) =>
        Object.values<any>(item).map(({ parameters, requestBody }) => [parameters, requestBody ?? null]),
      ),
    );
    const faulty = structuredClone(document);
    faulty.paths["/planted"] = { get: { responses: { 200: { description: "It has no name." } } } };
    faulty.components.schemas.Planted = { type: "string" };
    const findings = await lint(linter, faulty);
    const expected = { redocly: "no-unused-components", spectral: "operation-operationId" };
    expect(findings.filter(isPlanted).map(({ rule }) => rule)).toContain(expected[linter]);

    const others = findings.filter((finding) => !isPlanted(finding));
    const own = exceptions.filter((exception) => exception.linter === linter);
    const unexplained = others.filter((finding) => !own.some((one) => explains(one, finding, ofRequests)));
    expect(unexplained).toEqual([]);
    const stale = own.filter((one) => !others.some((finding) => explains(one, finding, ofRequests)));
    expect(stale).toEqual([]);
  });
});

test("every exception has a reason", () => {
  expect(exceptions.filter(({ reason }) => reason.length < 30)).toEqual([]);
});
