import type { StatementStep } from "../transaction.ts";
import { GroupCommits, type GroupCommitsOptions } from "./group-commits.ts";
import { GroupQueue } from "./group-queue.ts";

/** The queue of transactions of one statement, except appends. */
export function writeGroups(options: GroupCommitsOptions): GroupQueue<StatementStep> {
  const commits = new GroupCommits(options);
  return new GroupQueue(options.slot, (group) =>
    commits.commit(
      group.map((waiting) => {
        const { statement, parameters } = waiting.step;
        return { members: [waiting], statement, parameters };
      }),
    ),
  );
}
