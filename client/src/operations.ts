// Generated from the contract by `npm run derive`.

import { Client } from "./client.ts";
import type { ClientErrorCode } from "./errors.ts";
import type { IdKind, IdOf, Int64 } from "./json.ts";
import type { CallOptions, IfMatch, OnceOptions } from "./options.ts";
import type { Pages } from "./pages.ts";
import type { NoContent, Result } from "./response.ts";

/** Availability status of an animal. */
export type PetStatus = "available" | "pending" | "sold";

/** An animal of the store. */
export interface Pet<Id = bigint> {
  /** Unique identifier assigned by the service on creation. */
  readonly id: Id;
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: Id;
  readonly status?: PetStatus | undefined;
}

/** An animal to add. */
export interface NewPet {
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: Int64;
  readonly status?: PetStatus | undefined;
}

/** The fields of an animal to change (JSON Merge Patch, RFC 7396). None of them can be removed. */
export interface PetPatch {
  /** The animal's name. */
  readonly name?: string | undefined;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId?: Int64 | undefined;
  readonly status?: PetStatus | undefined;
}

/** What gave an animal its status. */
export type StatusCause =
  | "added"
  | "imported"
  | "updated"
  | "order_placed"
  | "order_confirmed"
  | "order_cancelled"
  | "order_expired"
  | "order_returned";

/** A change of an animal's status. `from` or `to` is absent where the animal had no status. */
export interface StatusChange {
  /** When, by the service's clock. Absent where that was not kept yet. */
  readonly at?: string | undefined;
  readonly cause: StatusCause;
  /** The status before. */
  readonly from?: PetStatus | undefined;
  /** The status from then on. */
  readonly to?: PetStatus | undefined;
}

/** A category of animals. */
export interface Category<Id = bigint> {
  /** Unique identifier. */
  readonly id: Id;
  /** The category's name. No two are the same. */
  readonly name: string;
}

/** A category to add. */
export interface NewCategory {
  /** The identifier, for a category that animals name already. Without it the service assigns one that no category has or had and no animal names. */
  readonly id?: Int64 | undefined;
  /** The category's name. No two are the same. */
  readonly name: string;
}

/** The new name of a category. */
export interface CategoryName {
  /** The category's name. No two are the same. */
  readonly name: string;
}

/** State of an order. `placed` reserves the animal and becomes `confirmed`, `cancelled` or, when the reservation ends, `expired`. `confirmed` can become `returned`. */
export type StoreOrderStatus = "placed" | "confirmed" | "cancelled" | "expired" | "returned";

/** An order of one animal. */
export interface StoreOrder<Id = bigint> {
  /** Unique identifier assigned by the service. */
  readonly id: Id;
  /** Identifier of the animal. */
  readonly petId: Id;
  /** The client's own name for the order, such as the number of a receipt. Kept as it is. */
  readonly reference?: string | undefined;
  readonly status: StoreOrderStatus;
  /** When the order was placed. */
  readonly placedAt: string;
  /** When the reservation ends, unless the order is confirmed or cancelled before. */
  readonly expiresAt: string;
  /** When the order was confirmed. */
  readonly confirmedAt?: string | undefined;
  /** When the order was cancelled. */
  readonly cancelledAt?: string | undefined;
  /** When the animal was returned. */
  readonly returnedAt?: string | undefined;
}

/** An order to place. */
export interface NewStoreOrder {
  /** Identifier of the animal. */
  readonly petId: Int64;
  /** The client's own name for the order, such as the number of a receipt. Kept as it is. */
  readonly reference?: string | undefined;
}

/** Which shop a key is for: the live one, or the sandbox (`test`). */
export type KeyMode = "live" | "test";

/** What an API key may do. */
export type Scope = "read" | "write" | "admin";

/** The account that the key belongs to. */
export interface KeyAccount {
  /** Identifies the account. */
  readonly id: string;
  /** What the account is called. */
  readonly name: string;
  /** Its plan. */
  readonly plan: string;
}

/** A window in which requests are counted. */
export interface LimitWindow {
  /** Requests that the window allows. */
  readonly limit: number;
  /** Requests that were counted in it. */
  readonly used: number;
  /** Requests that are left. */
  readonly remaining: number;
  /** When it ends, as unix timestamp in seconds. */
  readonly reset: number;
}

/** The windows of the account, which all of its keys share. */
export interface KeyLimits {
  /** The minute that began with the account's first request. */
  readonly minute: LimitWindow;
  /** The UTC calendar day. */
  readonly day: LimitWindow;
}

/** What the key did after its last 429. Waiting as told sets it to 0. */
export interface KeyStrikes {
  /** Requests sent before the time that a 429 named. */
  readonly count: number;
  /** How many more of them bring a ban. */
  readonly untilBan: number;
}

/** The ban of the key. Absent where there is none. */
export interface KeyBan {
  /** Why the key is banned. */
  readonly reason: string;
  /** When the ban ends. */
  readonly endsAt: string;
}

/** How bans grow. */
export interface BanSchedule {
  /** How long the next ban of the key would last, in seconds. */
  readonly next: number;
  /** How long the first ban lasts (each further one lasts twice as long), in seconds. */
  readonly first: number;
  /** How long a ban lasts at the most, in seconds. */
  readonly longest: number;
  /** How long without a ban makes it begin with the first one again, in seconds. */
  readonly forgottenAfter: number;
}

/** The calling key, its account, and how both stand. */
export interface CurrentKey {
  /** Identifies the key. It is no secret. */
  readonly id: string;
  /** What the key is called. */
  readonly name: string;
  readonly mode: KeyMode;
  /** Start and end of the key. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was made. */
  readonly createdAt: string;
  /** When the key ends. Absent if it has no end. */
  readonly expiresAt?: string | undefined;
  readonly account: KeyAccount;
  readonly limits: KeyLimits;
  readonly strikes: KeyStrikes;
  readonly ban?: KeyBan | undefined;
  readonly bans: BanSchedule;
}

/** An API key, without its text, and whether it is banned. */
export interface ListedApiKey {
  /** Identifies the key. It is no secret. */
  readonly id: string;
  /** What the key is called. */
  readonly name: string;
  readonly mode: KeyMode;
  /** Start and end of the key. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was made. */
  readonly createdAt: string;
  /** When the key ends. Absent if it has no end. */
  readonly expiresAt?: string | undefined;
  /** When the key was revoked. Absent for one that was not. */
  readonly revokedAt?: string | undefined;
  /** When the key was last used, to the minute. Absent for one that never was. */
  readonly lastUsedAt?: string | undefined;
  readonly ban?: KeyBan | undefined;
}

/** An API key to create. */
export interface NewApiKey {
  /** What the key is called. */
  readonly name: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** Without it, the mode of the calling key. */
  readonly mode?: KeyMode | undefined;
  /** Seconds until the key ends. Without it, the key has no end. */
  readonly expiresIn?: number | undefined;
}

/** A new API key with its text, which is not shown again. */
export interface IssuedApiKey {
  /** The key itself. It is shown this once. */
  readonly key: string;
  /** Identifies the key. It is no secret. */
  readonly id: string;
  /** What the key is called. */
  readonly name: string;
  readonly mode: KeyMode;
  /** Start and end of the key. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was made. */
  readonly createdAt: string;
  /** When the key ends. Absent if it has no end. */
  readonly expiresAt?: string | undefined;
  /** When the key was revoked. Absent for one that was not. */
  readonly revokedAt?: string | undefined;
  /** When the key was last used, to the minute. Absent for one that never was. */
  readonly lastUsedAt?: string | undefined;
}

/** An API key, without its text. */
export interface ApiKey {
  /** Identifies the key. It is no secret. */
  readonly id: string;
  /** What the key is called. */
  readonly name: string;
  readonly mode: KeyMode;
  /** Start and end of the key. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was made. */
  readonly createdAt: string;
  /** When the key ends. Absent if it has no end. */
  readonly expiresAt?: string | undefined;
  /** When the key was revoked. Absent for one that was not. */
  readonly revokedAt?: string | undefined;
  /** When the key was last used, to the minute. Absent for one that never was. */
  readonly lastUsedAt?: string | undefined;
}

/** A new API key with its text, and the key in whose place it is. */
export interface ReplacingApiKey {
  /** The key itself. It is shown this once. */
  readonly key: string;
  /** Identifies the key. It is no secret. */
  readonly id: string;
  /** What the key is called. */
  readonly name: string;
  readonly mode: KeyMode;
  /** Start and end of the key. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was made. */
  readonly createdAt: string;
  /** When the key ends. Absent if it has no end. */
  readonly expiresAt?: string | undefined;
  /** When the key was revoked. Absent for one that was not. */
  readonly revokedAt?: string | undefined;
  /** When the key was last used, to the minute. Absent for one that never was. */
  readonly lastUsedAt?: string | undefined;
  readonly replaced: ApiKey;
}

/** Requests of one operation that were answered with one status. */
export interface UsageCount {
  /** The operation. Absent for requests whose path and method name none. */
  readonly operation?: string | undefined;
  /** The status of the answers. */
  readonly status: number;
  /** How many there were. */
  readonly requests: number;
}

/** What an account has sent in a minute, an hour or a day. */
export interface UsageInterval {
  /** When the minute, hour or day begins. */
  readonly start: string;
  /** All requests of it. */
  readonly requests: number;
  /** The same requests by operation and status. */
  readonly operations: readonly UsageCount[];
}

/** The order (beta): `id` is the usual one, `-id` shows the animals that were added last first. */
export type PetSort = "id" | "-id";

/** How long the intervals are: a minute (of the last three hours), an hour or a UTC day (of the last 30 days). */
export type UsageGranularity = "minute" | "hour" | "day";

/** What `listPets` can be asked for. */
export interface ListPetsQuery {
  /** Maximum number of animals returned. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the page before, whose filters apply. */
  readonly cursor?: string | undefined;
  /** Filters animals by availability status. */
  readonly status?: PetStatus | undefined;
  /** Filters animals by category (beta). A page may then hold fewer than `limit` animals, or none, though more follow: go on as long as there is a `Link`. */
  readonly categoryId?: Int64 | undefined;
  /** Filters animals by `id` (beta): up to 100 of them, separated by commas or in several parameters. One that no animal has is no error. Pages hold up to `limit` animals here too. */
  readonly ids?: readonly Int64[] | undefined;
  readonly sort?: PetSort | undefined;
}

/** What `listPetStatusChanges` can be asked for. */
export interface ListPetStatusChangesQuery {
  /** Maximum number of changes returned. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the page before, whose filters apply. */
  readonly cursor?: string | undefined;
}

/** What `listCategories` can be asked for. */
export interface ListCategoriesQuery {
  /** Maximum number of categories returned. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the page before, whose filters apply. */
  readonly cursor?: string | undefined;
}

/** What `deleteCategory` can be asked for. */
export interface DeleteCategoryQuery {
  /** The identifier of the existing category that the animals go to. */
  readonly moveTo?: Int64 | undefined;
}

/** What `listStoreOrders` can be asked for. */
export interface ListStoreOrdersQuery {
  /** Maximum number of orders returned. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the page before, whose filters apply. */
  readonly cursor?: string | undefined;
  /** Filters orders by their state. */
  readonly status?: StoreOrderStatus | undefined;
  /** Filters orders by their animal. */
  readonly petId?: Int64 | undefined;
}

/** What `listKeys` can be asked for. */
export interface ListKeysQuery {
  /** Maximum number of keys returned. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the page before, whose filters apply. */
  readonly cursor?: string | undefined;
  /** Filters keys by mode. */
  readonly mode?: KeyMode | undefined;
}

/** What `rotateKey` can be asked for. */
export interface RotateKeyQuery {
  /** Seconds for which the old key stays valid; 0 ends it at once. At least 60 for the calling key, which must be able to ask again for a lost response. */
  readonly overlap?: number | undefined;
}

/** What `getUsage` can be asked for. */
export interface GetUsageQuery {
  readonly granularity?: UsageGranularity | undefined;
  /** Maximum number of intervals returned. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the page before, whose filters apply. */
  readonly cursor?: string | undefined;
}

/** Codes of errors that every operation can fail with. */
export type SharedErrorCode =
  | ClientErrorCode
  | "internal_error"
  | "invalid_api_key"
  | "invalid_request"
  | "missing_api_key"
  | "overloaded"
  | "rate_limit_exceeded"
  | "storage_unavailable";

/** The codes of the errors that each operation can fail with. */
export interface ErrorCodes {
  listPets: SharedErrorCode | "insufficient_scope" | "key_banned";
  createPet:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "unsupported_media_type";
  getPet: SharedErrorCode | "insufficient_scope" | "key_banned" | "operation_removed" | "pet_not_found";
  updatePet:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "invalid_transition"
    | "key_banned"
    | "payload_too_large"
    | "pet_has_open_order"
    | "pet_not_found"
    | "precondition_failed"
    | "request_timeout"
    | "unsupported_media_type";
  deletePet:
    | SharedErrorCode
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "pet_has_open_order"
    | "pet_not_found"
    | "precondition_failed"
    | "request_timeout";
  listPetStatusChanges: SharedErrorCode | "insufficient_scope" | "key_banned" | "pet_not_found";
  listCategories: SharedErrorCode | "insufficient_scope" | "key_banned";
  createCategory:
    | SharedErrorCode
    | "category_exists"
    | "category_name_taken"
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "unsupported_media_type";
  getCategory: SharedErrorCode | "category_not_found" | "insufficient_scope" | "key_banned";
  renameCategory:
    | SharedErrorCode
    | "category_name_taken"
    | "category_not_found"
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "precondition_failed"
    | "request_timeout"
    | "unsupported_media_type";
  deleteCategory:
    | SharedErrorCode
    | "category_in_use"
    | "category_not_found"
    | "insufficient_scope"
    | "key_banned"
    | "move_target_not_found"
    | "payload_too_large"
    | "precondition_failed"
    | "request_timeout";
  listStoreOrders: SharedErrorCode | "insufficient_scope" | "key_banned";
  placeStoreOrder:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "ordered_pet_not_found"
    | "payload_too_large"
    | "pet_not_available"
    | "request_timeout"
    | "unsupported_media_type";
  getStoreOrder: SharedErrorCode | "insufficient_scope" | "key_banned" | "order_not_found";
  confirmStoreOrder:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "order_not_found"
    | "order_not_open"
    | "payload_too_large"
    | "request_timeout";
  cancelStoreOrder:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "order_not_found"
    | "order_not_open"
    | "payload_too_large"
    | "request_timeout";
  returnStoreOrder:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "order_not_confirmed"
    | "order_not_found"
    | "ordered_pet_not_found"
    | "payload_too_large"
    | "request_timeout";
  getCurrentKey: SharedErrorCode;
  listKeys: SharedErrorCode | "insufficient_scope" | "key_banned";
  createKey:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "lifetime_exceeds_key"
    | "mode_not_held"
    | "payload_too_large"
    | "request_timeout"
    | "scope_not_held"
    | "too_many_keys"
    | "unsupported_media_type";
  rotateKey:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "key_ended"
    | "key_not_found"
    | "lifetime_exceeds_key"
    | "payload_too_large"
    | "request_timeout"
    | "scope_not_held"
    | "too_many_keys";
  revokeKey:
    | SharedErrorCode
    | "insufficient_scope"
    | "key_banned"
    | "key_not_found"
    | "last_admin_key"
    | "payload_too_large"
    | "request_timeout";
  getUsage: SharedErrorCode | "insufficient_scope";
}

/** A client of the service: one method for each operation. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- `define` makes the methods
export class Petstore<Ids extends IdKind = "bigint"> extends Client<Ids> {
  static {
    this.define({
      listPets: ["GET", "/pets", "query", "list"],
      createPet: ["POST", "/pets", "body"],
      getPet: ["GET", "/pets/{petId}"],
      updatePet: ["PATCH", "/pets/{petId}", "body"],
      deletePet: ["DELETE", "/pets/{petId}"],
      listPetStatusChanges: ["GET", "/pets/{petId}/history", "query", "list"],
      listCategories: ["GET", "/categories", "query", "list"],
      createCategory: ["POST", "/categories", "body"],
      getCategory: ["GET", "/categories/{categoryId}"],
      renameCategory: ["PATCH", "/categories/{categoryId}", "body"],
      deleteCategory: ["DELETE", "/categories/{categoryId}", "query"],
      listStoreOrders: ["GET", "/store/orders", "query", "list"],
      placeStoreOrder: ["POST", "/store/orders", "body"],
      getStoreOrder: ["GET", "/store/orders/{orderId}"],
      confirmStoreOrder: ["POST", "/store/orders/{orderId}/confirm"],
      cancelStoreOrder: ["POST", "/store/orders/{orderId}/cancel"],
      returnStoreOrder: ["POST", "/store/orders/{orderId}/return"],
      getCurrentKey: ["GET", "/key", "free"],
      listKeys: ["GET", "/keys", "query", "list"],
      createKey: ["POST", "/keys", "body"],
      rotateKey: ["POST", "/keys/{keyId}/rotate", "query"],
      revokeKey: ["DELETE", "/keys/{keyId}"],
      getUsage: ["GET", "/usage", "query", "list", "free"],
    });
  }
}
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- `define` has made these methods
export interface Petstore<Ids extends IdKind> {
  /**
   * List all animals.
   *
   * Returns animals by ascending `id`, page by page. `limit` sets the size of a page; the `Link` header (`rel="next"`) holds the address of the next one and is absent on the last. Animals that are added during a walk through the pages come at its end; none is shown twice.
   *
   * An animal is shown if it passes all filters that are given. `ids` reads known animals, one or many at once.
   *
   * Needs a key with the scope `read`.
   */
  listPets(query?: ListPetsQuery, options?: CallOptions): Pages<Pet<IdOf<Ids>>>;

  /**
   * Add an animal.
   *
   * Adds an animal and returns it with the `id` that the service gave it. The answer is sent after the animal is safe on disk. A `status` that is not sent stays absent.
   *
   * Needs a key with the scope `write`.
   */
  createPet(body: NewPet, options?: OnceOptions): Promise<Result<Pet<IdOf<Ids>>>>;

  /**
   * Get an animal.
   *
   * Returns the animal with the given identifier. `GET /pets?ids=7` finds the same animal, and goes on doing so.
   *
   * Needs a key with the scope `read`.
   *
   * @deprecated since 2026-11-21, removed on 2030-12-05: use `listPets`. Use `GET /pets` with the `status` filter instead.
   */
  getPet(petId: Int64, options?: CallOptions): Promise<Result<Pet<IdOf<Ids>>>>;

  /**
   * Change an animal (beta).
   *
   * Changes the fields that are sent (JSON Merge Patch, RFC 7396) and returns the animal as it is then. With `If-Match` it changes only an animal that nobody has changed meanwhile. Not every status can become every other: `available` and `pending` can become each other or `sold`; what is sold stays so, unless an order sold it and is returned.
   *
   * Needs a key with the scope `write`.
   */
  updatePet(petId: Int64, body: PetPatch, options?: OnceOptions & IfMatch): Promise<Result<Pet<IdOf<Ids>>>>;

  /**
   * Delete an animal (beta).
   *
   * Deletes an animal and the history of its status. The service never gives its `id` again. With `If-Match` it deletes only an animal that nobody has changed meanwhile. Sent again, it finds no animal: 404.
   *
   * Needs a key with the scope `write`.
   */
  deletePet(petId: Int64, options?: CallOptions & IfMatch): Promise<NoContent>;

  /**
   * List how an animal's status changed (experimental).
   *
   * Returns the changes of an animal's status with their time and cause, the oldest first: the first one is that it was added. The newest 1,000 are kept, and the first change of all. They are read page by page, as `listPets`.
   *
   * Needs a key with the scope `read`.
   */
  listPetStatusChanges(petId: Int64, query?: ListPetStatusChangesQuery, options?: CallOptions): Pages<StatusChange>;

  /**
   * List all categories (beta).
   *
   * Returns categories by ascending `id`, page by page: the `Link` header (`rel="next"`) holds the address of the next.
   *
   * Needs a key with the scope `read`.
   */
  listCategories(query?: ListCategoriesQuery, options?: CallOptions): Pages<Category<IdOf<Ids>>>;

  /**
   * Add a category (beta).
   *
   * Adds a category and returns it. Names are unique, and `birds` is another name than `Birds`. Animals may name a category before it is added: send their `categoryId` as `id` to give that one a name.
   *
   * Needs a key with the scope `write`.
   */
  createCategory(body: NewCategory, options?: OnceOptions): Promise<Result<Category<IdOf<Ids>>>>;

  /**
   * Get a category (beta).
   *
   * Returns the category with the given identifier.
   *
   * Needs a key with the scope `read`.
   */
  getCategory(categoryId: Int64, options?: CallOptions): Promise<Result<Category<IdOf<Ids>>>>;

  /**
   * Rename a category (beta).
   *
   * Gives a category another name, and returns it. Its animals stay as they are. With `If-Match` it renames only a category that nobody has renamed meanwhile.
   *
   * Needs a key with the scope `write`.
   */
  renameCategory(
    categoryId: Int64,
    body: CategoryName,
    options?: OnceOptions & IfMatch,
  ): Promise<Result<Category<IdOf<Ids>>>>;

  /**
   * Delete a category (beta).
   *
   * Deletes a category to which no animal belongs. With `moveTo` its animals, if it has any, go to that category first, all of them or, if the request fails, none. The service does not assign the identifier again. With `If-Match` it deletes only a category that nobody has renamed meanwhile. Sent again, it finds no category: 404.
   *
   * Needs a key with the scope `write`.
   */
  deleteCategory(categoryId: Int64, query?: DeleteCategoryQuery, options?: CallOptions & IfMatch): Promise<NoContent>;

  /**
   * List all orders (beta).
   *
   * Returns orders by ascending `id`, page by page: the `Link` header (`rel="next"`) holds the address of the next. Orders of every state are kept.
   *
   * Needs a key with the scope `read`.
   */
  listStoreOrders(query?: ListStoreOrdersQuery, options?: CallOptions): Pages<StoreOrder<IdOf<Ids>>>;

  /**
   * Place an order (beta).
   *
   * Reserves an available animal: its status becomes `pending` until the order is confirmed, cancelled or expires. Of many orders that are placed for one animal at once, exactly one succeeds. While the order is open, nothing else changes the animal's status, and the animal cannot be deleted.
   *
   * Needs a key with the scope `write`.
   */
  placeStoreOrder(body: NewStoreOrder, options?: OnceOptions): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Get an order (beta).
   *
   * Returns the order with the given identifier. An order whose reservation has ended is shown as `expired`, and its animal as available, within a second.
   *
   * Needs a key with the scope `read`.
   */
  getStoreOrder(orderId: Int64, options?: CallOptions): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Confirm an order (beta).
   *
   * Sells the animal: its status becomes `sold`. Refused from the moment on at which the reservation ends.
   *
   * Needs a key with the scope `write`.
   */
  confirmStoreOrder(orderId: Int64, options?: OnceOptions): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Cancel an order (beta).
   *
   * Lets the animal go: its status becomes `available`.
   *
   * Needs a key with the scope `write`.
   */
  cancelStoreOrder(orderId: Int64, options?: OnceOptions): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Return the animal of an order (beta).
   *
   * Takes back the animal of a confirmed order: its status becomes `available`.
   *
   * Needs a key with the scope `write`.
   */
  returnStoreOrder(orderId: Int64, options?: OnceOptions): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Get the calling key (experimental).
   *
   * Tells what the calling key may do, how the windows of its account stand, and how near a ban is or how long one lasts.
   *
   * Any valid key may use it.
   *
   * Costs no quota.
   */
  getCurrentKey(options?: CallOptions): Promise<Result<CurrentKey>>;

  /**
   * List the account's keys (experimental).
   *
   * Returns the keys of one's own account, the oldest first, also those that have ended. Of very many that have ended, the oldest are forgotten. A banned key has a `ban`. To a test key, live keys do not exist.
   *
   * Needs a key with the scope `admin`.
   */
  listKeys(query?: ListKeysQuery, options?: CallOptions): Pages<ListedApiKey>;

  /**
   * Create a key (experimental).
   *
   * Makes a key for one's own account and shows it, once. It has no scope that the calling key lacks, and may not outlive it: if the calling key ends, give an `expiresIn` that ends no later. A test key makes test keys only. An account has up to 100 valid keys of each mode.
   *
   * Needs a key with the scope `admin`.
   */
  createKey(body: NewApiKey, options?: OnceOptions): Promise<Result<IssuedApiKey>>;

  /**
   * Replace a key (experimental).
   *
   * Makes a new key with the name, mode, scopes and planned end of an old one and shows it, once. The old one stays valid for `overlap` seconds. The new key may not outlive the calling key. A key may replace itself. Send an `Idempotency-Key` then: without it, a lost response cannot be had again.
   *
   * Needs a key with the scope `admin`.
   */
  rotateKey(keyId: string, query?: RotateKeyQuery, options?: OnceOptions): Promise<Result<ReplacingApiKey>>;

  /**
   * Revoke a key (experimental).
   *
   * Ends a key of one's own account for good, at once. It is still listed, so again is no error. The calling key can be revoked too, unless no other `admin` key of its mode is valid as long.
   *
   * Needs a key with the scope `admin`.
   */
  revokeKey(keyId: string, options?: CallOptions): Promise<NoContent>;

  /**
   * Get the account's usage (experimental).
   *
   * Returns how many requests all keys of the account have sent, by operation and status of the answer, newest first, page by page. Intervals without a request are left out, as are requests without a valid key and those of operations that cost no quota. If the service is killed, the last seconds may be missing.
   *
   * Needs a key with the scope `read`.
   *
   * Costs no quota.
   */
  getUsage(query?: GetUsageQuery, options?: CallOptions): Pages<UsageInterval>;
}
