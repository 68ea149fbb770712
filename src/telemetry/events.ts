export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a field of a log line holds. An undefined one is left out. */
export type Field = string | number | boolean | null | undefined;

/** One kind of log line. */
interface LogEvent {
  readonly level: Exclude<LogLevel, "silent">;
  /** What has happened, as a sentence that is the same each time. */
  readonly message: string;
  /** The fields that a line of it has beside those of all lines; none given: any. */
  readonly fields?: readonly string[];
  /** A failure that goes on is one series of lines for each value of this field. */
  readonly per?: string;
}

/** Every event of the log, once. Alerts and searches name them, so a name is never changed without a changelog entry. */
export const events = {
  listening: {
    level: "info",
    message: "The service serves requests.",
    fields: [
      "address",
      "docs",
      "environment",
      "host",
      "port",
      "pid",
      "version",
      "runtime",
      "store",
      "limits",
      "workers",
    ],
  },
  settings: { level: "debug", message: "These settings are in force." },
  security_contact_expired: {
    level: "warn",
    message: "PETSTORE_SECURITY_EXPIRES has passed: security.txt is not served.",
    fields: [],
  },
  stopping: { level: "info", message: "The service was told to stop.", fields: [] },
  stopped_without_saving: {
    level: "warn",
    message: "The store was not free in time. What was counted since it was last free is lost.",
    fields: [],
  },
  request: {
    level: "info",
    message: "A request was answered.",
    fields: [
      "requestId",
      "clientRequestId",
      "operation",
      "method",
      "status",
      "code",
      "durationMs",
      "accountId",
      "keyId",
      "resource",
      "created",
      "address",
      "simulated",
    ],
  },
  request_failed: {
    level: "error",
    message: "A request failed because of a bug in the service.",
    fields: ["requestId"],
  },
  storage_unavailable: {
    level: "error",
    message: "The store could not serve a request.",
    fields: ["requestId"],
  },
  store_unusable: { level: "error", message: "The store cannot be used any more. The process ends.", fields: [] },
  task_failed: {
    level: "error",
    message: "A task in the background failed. It is tried again.",
    fields: ["task"],
    per: "task",
  },
  overload_started: { level: "warn", message: "The service is overloaded. Some requests are refused.", fields: [] },
  overload_ended: { level: "info", message: "No requests are refused any more.", fields: [] },
  limits_not_shared: {
    level: "warn",
    message: "This process counts limits alone. Others may admit as much again.",
    fields: ["reason"],
  },
  limits_shared_again: { level: "info", message: "This process counts limits together with others again.", fields: [] },
  ban_started: {
    level: "warn",
    message: "The key goes on after a 429 and is banned.",
    fields: ["keyId", "accountId", "until", "seconds", "strikes"],
  },
  ban_ended: { level: "info", message: "The ban of the key is over.", fields: ["keyId", "accountId"] },
  invalid_keys_rejected: {
    level: "warn",
    message: "Within a minute, many requests came with keys that are not valid.",
    fields: ["count", "address", "addresses"],
  },
  traces_not_delivered: {
    level: "warn",
    message: "The receiver does not take the traces. They are dropped.",
    fields: ["reason"],
  },
  traces_delivered_again: { level: "info", message: "The receiver takes the traces again.", fields: [] },
  log_lines_dropped: {
    level: "warn",
    message: "The reader of the log was too slow. Lines before this one are missing.",
    fields: ["lines"],
  },
  data_folder_not_locked: {
    level: "warn",
    message: "The data folder cannot be locked. A second process on it would not be refused.",
    fields: ["reason"],
  },
  base_url_not_set: {
    level: "warn",
    message: "PETSTORE_BASE_URL is not set. Links in answers lead to the address that the service listens on.",
    fields: ["address"],
  },
  worker_ready: { level: "info", message: "A worker serves requests.", fields: ["worker", "pid"] },
  worker_hung: {
    level: "warn",
    message: "A worker does not respond. It is killed and replaced.",
    fields: ["worker", "pid", "seconds"],
  },
  worker_ended: { level: "warn", message: "A worker ended without being told to.", fields: ["worker", "pid", "how"] },
  worker_given_up: {
    level: "error",
    message: "A worker ended again and again. The service ends.",
    fields: ["worker"],
  },
  restart_started: { level: "info", message: "All workers are being replaced.", fields: [] },
  restart_finished: { level: "info", message: "All workers were replaced.", fields: [] },
  restart_failed: {
    level: "error",
    message: "A new worker could not start. The workers that were not replaced yet stay.",
    fields: [],
  },
} as const satisfies Readonly<Record<string, LogEvent>>;

export type EventName = keyof typeof events;
type Events = typeof events;

/** The events that have a level. */
export type EventAt<L extends LogLevel> = {
  [E in EventName]: Events[E]["level"] extends L ? E : never;
}[EventName];

/** The fields of an event. One that does not apply is left out. */
type FieldsOf<E extends EventName> = Events[E] extends { readonly fields: readonly (infer F extends string)[] }
  ? { readonly [N in F]?: Field }
  : Readonly<Record<string, Field>>;

/** What is given with an event: nothing where it has no fields. */
export type Given<E extends EventName> = Events[E] extends { readonly fields: readonly [] }
  ? []
  : [fields: FieldsOf<E>];

/** What is told of an event, whatever its kind. */
export function eventOf(name: EventName): LogEvent {
  return events[name];
}
