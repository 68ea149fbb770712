// The completion of bash, by bash itself.
import { expect, test } from "bun:test";
import { domains } from "../../src/app/domains.ts";
import { commandsOf } from "../../src/cli/run.ts";
import { newDataDir, runCommand } from "../harness/program.ts";

const bash = Bun.which("bash");
const commands = commandsOf(domains);

test.skipIf(!bash)("bash completes every command and its options", async () => {
  const { stdout: script } = await runCommand(newDataDir(), ["completion", "bash"]);
  const complete = (line: string): string[] => {
    const words = line.split(" ");
    const program = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_petstore; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = Bun.spawnSync([bash ?? "", "--norc", "-c", program]);
    expect(stderr.toString()).toBe("");
    return stdout.toString().split("\n").filter(Boolean);
  };
  const firsts = new Set(commands.map(({ name }) => name.split(" ")[0] as string));
  expect(complete("petstore ").toSorted()).toEqual([...firsts, "--help", "--version"].toSorted());
  expect(complete("petstore acc")).toEqual(["accounts"]);
  expect(complete("petstore backups ")).toEqual(["take", "list", "verify"]);
  for (const { name, options = {} } of commands) {
    const expected = [...Object.keys(options), "json", "help"].map((option) => `--${option}`);
    expect([name, complete(`petstore ${name} --`)]).toEqual([name, expected]);
  }
  expect(complete("petstore keys list --account ")).toEqual([]);
  expect(complete("petstore import ")).toEqual([]); // bash then completes files
  expect(complete("petstore nothing ")).toEqual([]);
});
