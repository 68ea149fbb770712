import { present } from "../../../collections/present.ts";
import type { Caller, ShopName, ShopNumber } from "../../../contract/caller.ts";
import { failure, invalidBody } from "../../../contract/errors.ts";
import { timestampOf } from "../../../contract/schemas.ts";
import { toNumber } from "../../../storage/row-mapping.ts";
import { all, type Change, first, type Query } from "../../../storage/transaction.ts";
import type { Clock } from "../../../timing/clock.ts";
import { eventsOf } from "../../events/new-event.ts";
import { type Author, publish, system } from "../../events/publish.ts";
import type { LockedShop } from "../../shops/locked-shop.ts";
import { lockShop } from "../../shops/shops.store.ts";
import { currentKeys, firstVersion, newEndpointId, rotated, type SecretVersion } from "../secrets/endpoint-secrets.ts";
import type { SecretKeys } from "../secrets/secret-keys.ts";
import { shownPublicKey } from "../secrets/signatures.ts";
import { endpointNotFound, tooManyEndpoints, tooManySecrets } from "../shared.operations.ts";
import {
  ALL_TYPES,
  type EndpointPatch,
  endpointCreated,
  endpointDeleted,
  endpointDisabled,
  endpointUpdated,
  MAX_ENDPOINTS,
  MAX_SECRETS,
  type NewEndpoint,
  RecordedEndpoint,
} from "../webhooks.schemas.ts";
import { type Health, untried, withoutFailures } from "./endpoint-health.ts";
import * as sql from "./endpoints.statements.ts";
import { type EndpointFields, type EndpointRow, endpointFields } from "./endpoints.statements.ts";

/** A webhook endpoint as it is stored. */
export interface StoredEndpoint extends EndpointFields {
  readonly id: string;
  /** The newest first. */
  readonly secrets: readonly SecretVersion[];
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly health: Health;
  /** As in `EndpointRow`. */
  readonly position: bigint;
}

const event = eventsOf<RecordedEndpoint>(({ id }) => ({ under: null, subjectId: id }));

/** The shop of an endpoint, and when the key that changes it expires. */
type Owner = Pick<Caller, keyof ShopName | "expiresAt">;

/** The webhook endpoints of shops. */
export class EndpointStore {
  readonly #clock: Clock;
  readonly #secretKeys: SecretKeys | undefined;

  /** Without `secretKeys` it cannot create secrets, and the events that it publishes show no public key. */
  constructor(clock: Clock, secretKeys: SecretKeys | undefined) {
    this.#clock = clock;
    this.#secretKeys = secretKeys;
  }

  /** All endpoints of a shop, the oldest first. */
  *list({ accountId, mode }: ShopName): Query<StoredEndpoint[]> {
    return (yield* all(sql.endpointsOfShop, accountId, mode)).map(toEndpoint);
  }

  *get({ accountId, mode }: ShopName, id: string) {
    const row = yield* first(sql.endpointById, accountId, mode, id);
    return row ? toEndpoint(row) : noSuchEndpoint;
  }

  /** Part of a transaction: adds an endpoint that gets all later events, unless there are too many endpoints. */
  *add({ accountId, mode, expiresAt: keyEnd }: Owner, author: Author, given: NewEndpoint) {
    const { shop } = author;
    const locked = yield* lockShop(shop, this.#clock.now());
    if ((yield* all(sql.endpointsOfShop, accountId, mode)).length >= MAX_ENDPOINTS) return tooMany;
    const id = newEndpointId();
    const initial = { state: "enabled", expiresAt: endOf(keyEnd) } as const;
    const fields = { types: [ALL_TYPES], description: "", ...given, ...initial };
    const secrets = JSON.stringify(firstVersion(this.#newSecretKeys));
    const position = locked.lastEventId + 1n; // after its own event
    const progress = [locked.at, shop, position, storedHealth(untried)] as const;
    yield* all(sql.insertEndpoint, accountId, mode, id, secrets, ...progress, ...endpointFields.values(fields));
    const added = toEndpoint((yield* first(sql.endpointById, accountId, mode, id)) as EndpointRow);
    yield* publish(locked, author, [event(endpointCreated, this.#recorded(added))]);
    return added;
  }

  /**
   * Part of a transaction: changes an endpoint. A new URL has the lifetime of the key that sets it. An endpoint that has
   * expired cannot be resumed before it is confirmed, which sets `expiresAt` to null.
   */
  *change(
    { accountId, mode, expiresAt: keyEnd }: Owner,
    author: Author,
    id: string,
    { paused, expiresAt, ...fields }: EndpointPatch,
  ) {
    const { shop } = author;
    const now = this.#clock.now();
    const { locked, before } = yield* this.#lock({ accountId, mode }, shop, id, now);
    if (!before) return noSuchEndpoint;
    const state = paused === undefined ? before.state : paused ? "paused" : "enabled";
    const isMoved = fields.url !== undefined && fields.url !== before.url;
    const end = isMoved || expiresAt === null ? endOf(keyEnd) : before.expiresAt;
    if (paused !== undefined && end !== null && end <= now) return mustBeConfirmed;
    const changed = { ...before, ...fields, state, expiresAt: end };
    const updated = event(endpointUpdated, this.#recorded(changed), this.#recorded(before));
    if (updated.previous === "{}") return before; // nothing changes
    yield* endpointFields.update({ account_id: accountId, mode, id }, before, changed);
    // What an endpoint missed while it was disabled is sent again only on request.
    if (before.state === "disabled" && state !== "disabled") {
      yield* all(sql.skipTo, shop, locked.lastEventId + 1n, accountId, mode, id);
    }
    const restarts = isMoved || (before.state !== "enabled" && state === "enabled");
    const after = restarts ? { ...changed, health: withoutFailures(before.health) } : changed;
    if (restarts) {
      yield* all(sql.restart, storedHealth(after.health), accountId, mode, id);
      yield* all(sql.makeDue, now, shop, id);
    }
    yield* publish(locked, author, [updated]);
    return after;
  }

  /** Part of a transaction: replaces the secret of an endpoint, unless too many are valid. */
  *rotate(owner: ShopName, author: Author, id: string) {
    const now = this.#clock.now();
    const { locked, before } = yield* this.#lock(owner, author.shop, id, now);
    if (!before) return noSuchEndpoint;
    const secrets = rotated(before.secrets, this.#newSecretKeys, now);
    if (secrets.length > MAX_SECRETS) return tooManyValid;
    const after = { ...before, secrets };
    yield* all(sql.setSecrets, JSON.stringify(secrets), owner.accountId, owner.mode, id);
    yield* publish(locked, author, [event(endpointUpdated, this.#recorded(after), this.#recorded(before))]);
    return after;
  }

  /** Part of a transaction: deletes an endpoint and everything stored about its deliveries. */
  *delete(owner: ShopName, author: Author, id: string) {
    const { locked, before } = yield* this.#lock(owner, author.shop, id);
    if (!before) return noSuchEndpoint;
    // First: a save locks this row, and then adds rows to the others.
    yield* all(sql.deleteEndpoint, owner.accountId, owner.mode, id);
    for (const deletion of sql.deletions) yield* all(deletion, locked.shop, id);
    yield* publish(locked, author, [event(endpointDeleted, this.#recorded(before))]);
    return null;
  }

  /** The beginning of a change: locks the shop, and reads the endpoint, if there is one. */
  *#lock({ accountId, mode }: ShopName, shop: ShopNumber, id: string, now = this.#clock.now()) {
    const locked = yield* lockShop(shop, now);
    const row = yield* first(sql.endpointById, accountId, mode, id);
    return { locked, before: row && toEndpoint(row) };
  }

  /** Part of a transaction that has disabled an endpoint: publishes the event. */
  *afterDisabling(locked: LockedShop, before: StoredEndpoint): Change<void> {
    const disabled = this.#recorded({ ...before, state: "disabled" });
    yield* publish(locked, system(locked.shop), [event(endpointDisabled, disabled, this.#recorded(before))]);
  }

  get #newSecretKeys(): SecretKeys {
    if (!this.#secretKeys) throw new TypeError("There are no keys to derive a secret from.");
    return this.#secretKeys;
  }

  #recorded(endpoint: StoredEndpoint): RecordedEndpoint {
    return recordedEndpoint(endpoint, this.#secretKeys);
  }
}

/** The end of what a key makes, which ends with the key; null for never. */
function endOf(keyEnd: number): number | null {
  return Number.isFinite(keyEnd) ? keyEnd : null;
}

/** An endpoint as clients see it, without the state of its deliveries: the compiler asks for every field. */
export function recordedEndpoint(endpoint: StoredEndpoint, secretKeys: SecretKeys | undefined): RecordedEndpoint {
  const { id, url, types, description, state, secrets, createdAt, expiresAt } = endpoint;
  const keys = secretKeys && currentKeys(id, secrets, secretKeys);
  const fields = { id, url, types, description, state, publicKey: keys && shownPublicKey(keys) };
  const times = { createdAt: timestampOf(createdAt), expiresAt: expiresAt === null ? null : timestampOf(expiresAt) };
  return present<Required<RecordedEndpoint>>({ ...fields, ...times });
}

export function toEndpoint(row: EndpointRow): StoredEndpoint {
  return endpointFields.read(row, {
    id: row.id,
    secrets: JSON.parse(row.secrets) as SecretVersion[],
    createdAt: Number(row.created_at),
    health: healthOf(row),
    position: row.position,
  });
}

type StoredHealth = Pick<EndpointRow, "health" | "failing_since" | "waits_until">;

export function healthOf({ health, failing_since, waits_until }: StoredHealth): Health {
  const times = { failingSince: toNumber(failing_since), waitsUntil: toNumber(waits_until) };
  return { ...(JSON.parse(health) as Health), ...times };
}

/** The part of the health that has no column, as JSON. */
export function storedHealth({ hours, failures, probes, lastFailure }: Health): string {
  return JSON.stringify({ hours, failures, probes, lastFailure });
}

export const noSuchEndpoint = failure(endpointNotFound, "No webhook endpoint of the shop has this id.");

const tooMany = failure(
  tooManyEndpoints,
  `The shop has ${MAX_ENDPOINTS} webhook endpoints. Delete one that is not needed.`,
);

const tooManyValid = failure(
  tooManySecrets,
  `${MAX_SECRETS} secrets of the endpoint are valid. Use the newest. You can replace it when an older one ends, within 24 hours.`,
);

const mustBeConfirmed = invalidBody({
  path: "/paused",
  message: "needs `expiresAt: null` too, because the endpoint has expired",
});
