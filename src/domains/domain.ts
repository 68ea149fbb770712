import { ContractError, contractFaults } from "../contract/check.ts";
import type { DueTimes } from "../contract/due-times.ts";
import type { EventFilter } from "../contract/event-filter.ts";
import type { BoundOperation } from "../contract/handler.ts";
import type { LimitReader } from "../contract/limits.ts";
import type { EventType, Operation } from "../contract/operation.ts";
import { repeated } from "../contract/operation-faults.ts";
import { type Settings, type SettingValues, settingFaults } from "../settings/setting.ts";
import type { ChangesOfStore, Storage } from "../storage/storage.ts";
import type { Table } from "../storage/table.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Command } from "../terminal/command.ts";
import type { Clock, ExpiryClock } from "../timing/clock.ts";

/** Work that is repeated twice a second, outside of requests. A failure is logged, and the next round tries again. */
export interface BackgroundTask {
  /** How the log names it, in snake_case. */
  readonly name: string;
  /** Who does it: each process for itself, or one for all that work on the store. */
  readonly by: "each" | "leader";
  readonly run: () => Promise<void>;
  /** Called once after its last run, when the service stops and requests have ended. Other tasks may still run. */
  readonly finish?: () => Promise<void>;
}

/** The services that a domain can use. Each domain registers its own metrics and background tasks. */
export interface Host {
  readonly storage: Storage & Omit<ChangesOfStore, "follow" | "versionOf">;
  /** See `generationOf`. */
  readonly generation: string;
  readonly clock: Clock;
  /** The time by which old data is deleted. */
  readonly expiry: ExpiryClock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limiter: LimitReader;
  /** The folder of an embedded store, where a domain may keep a file next to it; undefined for another store. */
  readonly dataFolder: string | undefined;
  /** True if the service runs for development. */
  readonly isDevelopment: boolean;
  /** Repeats a task while the service runs. Throws `TypeError` if another task has its name. */
  readonly repeat: (task: BackgroundTask) => void;
  /** Runs the tasks of this process now instead of at the next round. */
  readonly runSoon: () => void;
  /** Registers an owner of due times, which a fast-forward of a sandbox brings nearer. */
  readonly hasDueTimes: (owner: DueTimes) => void;
  /** Those that are registered. Complete when all domains are open. */
  readonly dueTimes: readonly DueTimes[];
}

/**
 * What the service needs to know of one folder of `domains/`, or of several that depend on each other. `H` is what the
 * domain needs from the service.
 */
export interface Domain<S extends Settings = Settings, H extends Host = Host> {
  /** The name of its folder, or one name for its folders together. */
  readonly name: string;
  readonly operations: readonly Operation[];
  /** The event types that its changes add to the log of a shop. */
  readonly eventTypes?: readonly EventType[];
  /** Query parameters that select events by its resources. */
  readonly eventFilters?: readonly EventFilter[];
  /** Settings that this domain declares. They are parsed and documented like all others. */
  readonly settings?: S;
  /** Commands that work on its data, alongside the service. */
  readonly commands?: readonly Command[];
  /** Its tables. One that refers to another comes after it. */
  readonly tables?: readonly Table[];
  /** Called before `open`. Rejects with an error for the operator if a service must not start with these settings. */
  check?(host: Pick<Host, "storage" | "dataFolder">, settings: SettingValues<S>): Promise<void>;
  /** Creates the handlers, and registers metrics and background tasks with the host. Called once per service. */
  open(host: H, settings: SettingValues<S>): readonly BoundOperation[];
}

/** Returns the domain as it is, with `open` typed by its settings. */
export function defineDomain<S extends Settings, H extends Host = Host>(domain: Domain<S, H>): Domain<Settings, H> {
  return domain;
}

/** The settings that domains declare, together. */
export function settingsOf(domains: readonly Pick<Domain, "settings">[]): Settings {
  return Object.assign({}, ...domains.map(({ settings = {} }) => settings)) as Settings;
}

/** Throws a `ContractError` with all that is wrong with the domains. `reserved` are settings of the service itself. */
export function checkDomains(domains: readonly Omit<Domain, "open">[], reserved: readonly string[]): void {
  const declared = domains.flatMap(({ settings = {}, commands = [] }) => [
    settings,
    ...commands.map(({ variables = {} }) => variables),
  ]);
  const settings = [...reserved, ...domains.flatMap((domain) => Object.keys(domain.settings ?? {}))];
  const faults = [
    ...repeated(domains.map(({ name }) => name)).map((name) => `${name}: two domains have this name.`),
    ...repeated(domains.flatMap(({ commands = [] }) => commands.map(({ name }) => name))).map(
      (name) => `${name}: two commands have this name.`,
    ),
    ...repeated(domains.flatMap(({ eventTypes = [] }) => eventTypes.map(({ type }) => type))).map(
      (type) => `${type}: two event types have this name.`,
    ),
    ...repeated(settings).map((name) => `${name}: this setting is declared twice.`),
    ...declared.flatMap(settingFaults),
    ...contractFaults(domains.flatMap(({ operations }) => operations)),
    ...undeclaredEventFaults(domains),
  ];
  if (faults.length > 0) throw new ContractError(faults);
}

/** Faults of operations that emit undeclared event types, which clients could not filter by. */
function undeclaredEventFaults(domains: readonly Omit<Domain, "open">[]): string[] {
  const declared = new Set(domains.flatMap(({ eventTypes = [] }) => eventTypes.map(({ type }) => type)));
  return domains
    .flatMap(({ operations }) => operations)
    .flatMap(({ name, emits = [] }) =>
      emits
        .filter((type) => !declared.has(type))
        .map((type) => `${name}: it emits ${type}, which no domain declares; add it to the eventTypes of one.`),
    );
}
