/** From all lines to none. `brief` has lines of `info`, but of requests only those that failed or were slow. */
export const logLevels = ["debug", "info", "brief", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a field of a log line holds. An undefined one is left out. */
export type Field = string | number | boolean | null | undefined;

export type Fields = Readonly<Record<string, Field>>;

/** One kind of log line. */
interface LogEvent {
  readonly level: Exclude<LogLevel, "brief" | "silent">;
  /** What has happened, as a sentence that is the same each time. */
  readonly message: string;
  /** The fields of its lines, besides those that all lines have. Absent: none. */
  readonly fields?: readonly string[] | "any";
  /** For `Log.failing`: failures with different values of this field are logged separately. */
  readonly per?: string;
}

/** Every event of the log, once. Alerts and searches name them, so a name is never changed without a changelog entry. */
export const logEvents = {
  listening: {
    level: "info",
    message: "The service serves requests.",
    fields: ["address", "docs", "environment", "host", "port", "pid", "version", "runtime", "store", "limits"],
  },
  settings: { level: "debug", message: "The settings of this process, one per field.", fields: "any" },
  console_not_built: {
    level: "error",
    message: "The web console cannot be built. The next request for it tries again.",
  },
  store_new: { level: "info", message: "The store is new, or was restored or copied: this is its first start." },
  backup_taken: { level: "info", message: "A backup was taken and verified.", fields: ["file", "bytes"] },
  backup_failed: { level: "error", message: "A backup failed. It is tried again after a minute." },
  old_backups_not_deleted: {
    level: "warn",
    message: "Old backups were not deleted, and fill the disk. The command `backups take` shows the reason.",
    fields: ["backups", "keep"],
  },
  clock_jumped: {
    level: "warn",
    message:
      "The wall clock was set by more than an hour. If it is ahead, data does not age by it until it is right again, " +
      "or the service is started again.",
    fields: ["seconds"],
  },
  shop_ahead_of_clock: {
    level: "warn",
    message:
      "A shop was changed at a later time than the clock has: the clock is slow, or was fast then. Until that time, its " +
      "events have that time.",
    fields: ["accountId", "seconds"],
  },
  account_deleted: { level: "info", message: "All data of a deleted account is removed.", fields: ["accountId"] },
  stopping: { level: "info", message: "The service was told to stop." },
  stopped_without_saving: {
    level: "warn",
    message: "The service could not save in time. Counts since the last save are lost.",
  },
  request: { level: "info", message: "A request was served.", fields: "any" }, // see `RequestLine`
  stream_ended: {
    level: "info",
    message: "A stream ended. Its request was logged when it began.",
    fields: ["requestId", "operation", "accountId", "keyId", "reason", "seconds", "events", "bytes"],
  },
  request_failed: {
    level: "error",
    message: "A request failed because of a bug in the service.",
    fields: ["requestId"],
  },
  storage_unavailable: { level: "error", message: "The store could not serve a request.", fields: ["requestId"] },
  store_unusable: { level: "error", message: "The store cannot be used. The process ends." },
  task_failed: {
    level: "error",
    message: "A background task failed. It is tried again.",
    fields: ["task"],
    per: "task",
  },
  recovered: {
    level: "info",
    message: "No failure of the lines before has happened again for ten seconds.",
    fields: ["failures"],
  },
  limits_not_shared: {
    level: "warn",
    message: "This process counts limits alone, so a client can exceed its limits by using several processes.",
    fields: ["reason"],
  },
  limits_shared_again: { level: "info", message: "This process counts limits together with others again." },
  ban_started: {
    level: "warn",
    message: "The key kept sending requests after a 429 and is banned.",
    fields: ["keyId", "accountId", "until", "seconds", "strikes"],
  },
  invalid_keys_rejected: {
    level: "warn",
    message: "Many requests within a minute had invalid keys.",
    fields: ["count", "address", "addresses"],
  },
  webhook_endpoint_disabled: {
    level: "warn",
    message: "A webhook endpoint was disabled: it has failed for 5 days, or returned 410.",
    fields: ["endpointId", "accountId"],
  },
  traces_not_delivered: {
    level: "warn",
    message: "The receiver does not accept the traces. They are dropped.",
    fields: ["reason"],
  },
  traces_delivered_again: { level: "info", message: "The receiver accepts the traces again." },
  log_lines_dropped: {
    level: "warn",
    message: "Lines before this one are missing: the reader of the log was too slow, or writing them failed.",
    fields: ["lines"],
  },
  data_folder_not_locked: {
    level: "warn",
    message: "The data folder cannot be locked. A second process on it would not be refused.",
    fields: ["reason"],
  },
  base_url_not_set: {
    level: "warn",
    message: "The setting is not set. Links in responses lead to the address that the service listens on.",
    fields: ["setting", "address"],
  },
} as const satisfies Readonly<Record<string, LogEvent>>;

export type EventName = keyof typeof logEvents;
type Events = typeof logEvents;

/** The events that have a level. */
export type EventAt<L extends LogLevel> = {
  [E in EventName]: Events[E]["level"] extends L ? E : never;
}[EventName];

/** The arguments after an event: its fields, without those that do not apply, or none if it has none. */
export type FieldArguments<E extends EventName> = Events[E] extends { readonly fields: infer F }
  ? [fields: F extends readonly (infer Name extends string)[] ? { readonly [N in Name]?: Field } : Fields]
  : [];

/** The definition of an event, without its exact type. */
export function eventOf(name: EventName): LogEvent {
  return logEvents[name];
}
