import type { Storage } from "../../../storage/storage.ts";
import type { Clock } from "../../../timing/clock.ts";
import type { EventLog } from "../../events/events.store.ts";
import type { SecretKeys } from "../secrets/secret-keys.ts";
import type { SendResult, SignedMessage } from "../sending/send.ts";
import type { CourierEndpoint, DispatchStore } from "./dispatch.store.ts";
import type { Slots } from "./slots.ts";

/** What all couriers of a process share. */
export interface CourierParts {
  readonly storage: Storage;
  readonly store: DispatchStore;
  readonly log: EventLog;
  /** See `generationOf`. */
  readonly generation: string;
  readonly clock: Clock;
  readonly slots: Slots;
  readonly secretKeys: SecretKeys;
  /** All types of events. */
  readonly types: readonly string[];
  readonly send: (message: SignedMessage) => Promise<SendResult>;
  /** Returns a number of at least 0 and below 1. */
  readonly random: () => number;
  /** False if another process may have become the one that delivers. */
  readonly leads: () => boolean;
  /** Called after each delivery. */
  readonly deliveryEnded: (hasFailed: boolean) => void;
  /** Called when a slot is free again. */
  readonly freed: () => void;
  readonly disabled: (endpoint: CourierEndpoint) => void;
  readonly failed: (error: unknown) => void;
}
