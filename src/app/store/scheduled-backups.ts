import { basename } from "node:path";
import type { Config } from "../../config.ts";
import type { Host } from "../../domains/domain.ts";
import { storeMark } from "../../storage/generation.ts";
import { Pause } from "../../timing/waiting.ts";
import { type Backup, backupsIn, ownBackups } from "./backup-folder.ts";

/** The wait after a failed backup before the next attempt, in milliseconds. */
const RETRY_PAUSE = 60_000;

/** Takes one backup. Rejects with the reason if it fails; ends when `stop` is aborted. */
export type TakeBackup = (stop: AbortSignal) => Promise<void>;

/**
 * Takes a backup whenever the newest one is at least `every` old. `take` does it in another process, because a copy of a
 * large store keeps a thread busy for seconds.
 */
export function scheduleBackups(
  { every, folder, keep }: Config["backups"],
  { generation, clock, log, metrics, repeat }: Pick<Host, "generation" | "clock" | "log" | "metrics" | "repeat">,
  take: TakeBackup,
): void {
  if (every === undefined) return;
  const ending = new AbortController();
  let newest: Backup | undefined;
  let count = 0;
  const readFolder = () => {
    const backups = ownBackups(backupsIn(folder, clock.now()), storeMark(generation));
    [newest] = backups;
    count = backups.length;
  };
  readFolder();
  let failures = 0;
  const pause = new Pause(RETRY_PAUSE);
  let running: Promise<void> | undefined;

  metrics.gauge(
    "petstore_backup_newest_timestamp_seconds",
    "When the newest backup was taken, in unix seconds; 0 if there is none.",
    () => (newest?.takenAt ?? 0) / 1000,
  );
  metrics.gauge("petstore_backup_newest_bytes", "Size of the newest backup.", () => newest?.bytes ?? 0);
  metrics.gauge("petstore_backup_interval_seconds", "How often a backup is taken.", () => every / 1000);
  metrics.counter("petstore_backup_failures_total", "Backups that failed.", () => failures);

  const attempt = async () => {
    try {
      // A complete backup counts even if its process failed afterwards. Repeating it would fill the disk.
      await take(ending.signal).finally(readFolder);
      log.info("backup_taken", { file: newest && basename(newest.file), bytes: newest?.bytes });
      if (count > keep) log.warn("old_backups_not_deleted", { backups: count, keep });
    } catch (error) {
      if (ending.signal.aborted) return;
      failures++;
      pause.start(clock.now());
      log.error("backup_failed", error);
    } finally {
      running = undefined;
    }
  };
  /** Also true if the newest backup is at least `every` in the future, which means that the clock was set back. */
  const isDue = (now: number) => !newest || Math.abs(now - newest.takenAt) >= every;

  repeat({
    name: "take_backups",
    by: "leader",
    run: async () => {
      const now = clock.now();
      if (!running && pause.isOver(now) && isDue(now)) running = attempt(); // not waited for: other tasks continue
    },
    finish: async () => {
      ending.abort();
      await running;
    },
  });
}
