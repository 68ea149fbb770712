import { expect, test } from "bun:test";
import { runJsonInProcess } from "../../../test/harness/commands.ts";
import { newKeyIn } from "../../../test/harness/keys.ts";
import { newDataDir } from "../../../test/harness/program.ts";

test("keys list --unused lists valid keys that were not used for this long", async () => {
  const dataDir = newDataDir();
  const key = await newKeyIn(dataDir);
  const listed = async (time: string) =>
    (await runJsonInProcess(dataDir, ["keys", "list", "--account", key.accountId, "--unused", time])).map(
      (one: { id: string }) => one.id,
    );
  expect(await listed("90d")).toEqual([]);
  expect(await listed("0")).toEqual([key.id]);
  const { id } = await runJsonInProcess(dataDir, ["keys", "create", "--account", key.accountId]);
  await runJsonInProcess(dataDir, ["keys", "revoke", id]);
  expect(await listed("0")).toEqual([key.id]);
});
