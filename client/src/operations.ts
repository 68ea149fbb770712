// Generated from the contract by `npm run derive`.

import { Client } from "./client.ts";
import type { ClientErrorCode } from "./errors.ts";
import type { IdKind, IdOf, Int64 } from "./json.ts";
import type { CallOptions, IfMatch, OnceOptions } from "./options.ts";
import type { Pages } from "./pages.ts";
import type { NoContent, Result } from "./response.ts";

/** Availability status of an animal. */
export type PetStatus = "available" | "pending" | "sold";

/** A price. */
export interface Price {
  /** The amount in the smallest unit of the currency, such as cents. */
  readonly amount: number;
  /** Three capital letters, as in ISO 4217. */
  readonly currency: string;
}

/** The key-value pairs that you set. Absent if there are none. */
export interface Metadata {
  readonly [name: string]: string;
}

/** An animal of the shop. */
export interface Pet<Id = bigint> {
  /** Unique identifier assigned by the service on creation. */
  readonly id: Id;
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: Id;
  readonly status?: PetStatus | undefined;
  /** What is asked for the animal. */
  readonly price?: Price | undefined;
  /** Your own number for the animal, such as that of its chip, ring or label. Unique within the shop, in exactly this form. */
  readonly reference?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

/** A price. */
export interface NewPrice {
  /** The amount in the smallest unit of the currency, such as cents. */
  readonly amount: Int64;
  /** A currency of ISO 4217: three capital letters. Default: that of the shop. */
  readonly currency?: string | undefined;
}

/** Key-value pairs for your own use. Up to 50 pairs, with keys of 1 to 40 characters and values of up to 500: together at most 4,096 bytes in UTF-8. The key `__proto__` is not allowed. */
export interface NewMetadata {
  readonly [name: string]: string;
}

/** An animal to add. */
export interface NewPet {
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: Int64;
  readonly status?: PetStatus | undefined;
  /** What is asked for the animal. */
  readonly price?: NewPrice | undefined;
  /** Your own number for the animal, such as that of its chip, ring or label. Unique within the shop, in exactly this form. Not only blanks. */
  readonly reference?: string | undefined;
  readonly metadata?: NewMetadata | undefined;
}

/** The price from now on; `null` removes it. Without `currency`, it keeps the one that it has. */
export type PricePatch = {
  /** The amount in the smallest unit of the currency, such as cents. */
  readonly amount: Int64;
  /** A currency of ISO 4217: three capital letters. Default: that of the shop. */
  readonly currency?: string | undefined;
} | null;

/** Pairs to set. A `null` value removes its pair, `null` instead of an object removes all. Other pairs stay. The limits of `NewMetadata` apply to the resulting pairs; a patch has at most 100. */
export type MetadataPatch = { readonly [name: string]: string | null } | null;

/** The fields of an animal to change (JSON Merge Patch, RFC 7396). */
export interface PetPatch {
  /** The animal's name. */
  readonly name?: string | undefined;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId?: Int64 | undefined;
  readonly status?: PetStatus | undefined;
  readonly price?: PricePatch | undefined;
  /** The reference from now on; `null` removes it. */
  readonly reference?: string | null | undefined;
  readonly metadata?: MetadataPatch | undefined;
}

/** `skip` leaves out animals with faults. Without it, one fault refuses all. */
export type PetImportOnError = "skip";

/** What to do with an animal whose `reference` another one has. `refuse`, the default, makes it a fault. `skip` changes nothing. `update` changes the fields that are given, as `updatePet` does. */
export type PetImportOnExisting = "refuse" | "skip" | "update";

/** Animals to add together. */
export interface PetImport {
  /** The animals to add, in the order of their new ids. */
  readonly animals: readonly NewPet[];
  readonly onError?: PetImportOnError | undefined;
  readonly onExisting?: PetImportOnExisting | undefined;
}

/** `updated` and `skipped`: the animal existed, see `onExisting`. */
export type PetImportOutcome = "created" | "updated" | "skipped";

/** What became of an animal. */
export interface ImportedPet<Id = bigint> {
  /** The place in the request, from 0 on. */
  readonly index: number;
  /** The identifier of the animal. */
  readonly id: Id;
  readonly outcome: PetImportOutcome;
}

/** Why an animal was left out. */
export interface PetFault {
  /** The place in the request, from 0 on. */
  readonly index: number;
  /** Where the fault is: a JSON Pointer into the animal. */
  readonly path: string;
  /** What is wrong. */
  readonly message: string;
}

/** The outcome of an import. */
export interface ImportedPets<Id = bigint> {
  /** The animals that have no fault. */
  readonly animals: readonly ImportedPet<Id>[];
  /** The faults of those that were left out: the first 3 of each. */
  readonly faults: readonly PetFault[];
}

/** Animals to delete together. */
export interface PetDeletion {
  /** The animals to delete. */
  readonly ids: readonly Int64[];
}

/** The deleted animals. */
export interface DeletedPets<Id = bigint> {
  /** The animals that there were, by ascending id. */
  readonly deleted: readonly Id[];
}

/** A category of animals. */
export interface Category<Id = bigint> {
  /** Unique identifier. */
  readonly id: Id;
  /** The category's unique name. */
  readonly name: string;
  readonly metadata?: Metadata | undefined;
}

/** A category to add. */
export interface NewCategory {
  /** Meant for a category that animals already refer to: their `categoryId`. By default, the service assigns one that no animal refers to. */
  readonly id?: Int64 | undefined;
  /** The category's unique name. */
  readonly name: string;
  readonly metadata?: NewMetadata | undefined;
}

/** The fields of a category to change (JSON Merge Patch, RFC 7396). Only metadata can be removed. */
export interface CategoryPatch {
  /** The category's unique name. */
  readonly name?: string | undefined;
  readonly metadata?: MetadataPatch | undefined;
}

/** State of an order. `placed` reserves the animal and becomes `confirmed`, `cancelled` or, when the reservation ends, `expired`. `confirmed` can become `returned`. */
export type StoreOrderStatus = "placed" | "confirmed" | "cancelled" | "expired" | "returned";

/** The key that confirmed an order. */
export interface Seller {
  /** The identifier of the key. Absent if it was no key of yours. */
  readonly keyId?: string | undefined;
  /** The name of the key. */
  readonly name: string;
}

/** An order for one animal. */
export interface StoreOrder<Id = bigint> {
  /** Unique identifier assigned by the service. */
  readonly id: Id;
  /** Identifier of the animal. */
  readonly petId: Id;
  /** Your own name for the order, such as a receipt number. Stored unchanged. */
  readonly reference?: string | undefined;
  readonly status: StoreOrderStatus;
  /** What the animal is sold for. */
  readonly price?: Price | undefined;
  /** Who sold the animal, for the figures of sales. Default: the name of the key that confirms the order. */
  readonly seller?: string | undefined;
  /** When the order was placed. */
  readonly placedAt: string;
  /** When the reservation ends if the order is neither confirmed nor cancelled. */
  readonly expiresAt: string;
  /** When the order was confirmed. */
  readonly confirmedAt?: string | undefined;
  readonly confirmedBy?: Seller | undefined;
  /** The animal's name when it was sold. */
  readonly petName?: string | undefined;
  /** The animal's category when it was sold. */
  readonly categoryId?: Id | undefined;
  /** When the order was cancelled. */
  readonly cancelledAt?: string | undefined;
  /** When the animal was returned. */
  readonly returnedAt?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

/** An order to place. */
export interface NewStoreOrder {
  /** Identifier of the animal. */
  readonly petId: Int64;
  /** Your own name for the order, such as a receipt number. Stored unchanged. */
  readonly reference?: string | undefined;
  /** What the animal is sold for. Default: the price that it has; `null` for none. */
  readonly price?: PricePatch | undefined;
  /** Who sold the animal, for the figures of sales. Default: the name of the key that confirms the order. */
  readonly seller?: string | undefined;
  /** When the reservation ends: in the future, and at most 90 days ahead. By default, the service decides. Not allowed with `confirm`. */
  readonly expiresAt?: string | undefined;
  /** True to sell the animal at once: the order is confirmed in the same request. */
  readonly confirm?: boolean | undefined;
  readonly metadata?: NewMetadata | undefined;
}

/** An order that was just confirmed. */
export interface ConfirmedStoreOrder<Id = bigint> {
  /** Unique identifier assigned by the service. */
  readonly id: Id;
  /** Identifier of the animal. */
  readonly petId: Id;
  /** Your own name for the order, such as a receipt number. Stored unchanged. */
  readonly reference?: string | undefined;
  readonly status: "confirmed";
  /** What the animal is sold for. */
  readonly price?: Price | undefined;
  /** Who sold the animal, for the figures of sales. Default: the name of the key that confirms the order. */
  readonly seller: string;
  /** When the order was placed. */
  readonly placedAt: string;
  /** When the reservation ends if the order is neither confirmed nor cancelled. */
  readonly expiresAt: string;
  /** When the order was confirmed. */
  readonly confirmedAt: string;
  readonly confirmedBy: Seller;
  /** The animal's name when it was sold. */
  readonly petName: string;
  /** The animal's category when it was sold. */
  readonly categoryId: Id;
  /** When the order was cancelled. */
  readonly cancelledAt?: string | undefined;
  /** When the animal was returned. */
  readonly returnedAt?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

/** The fields of an order to change (JSON Merge Patch, RFC 7396). */
export interface StoreOrderPatch {
  /** Your own name for the order; `null` removes it. */
  readonly reference?: string | null | undefined;
  /** When the reservation ends: in the future, and at most 90 days ahead. */
  readonly expiresAt?: string | undefined;
  /** The price from now on, also after the sale; `null` removes it. */
  readonly price?: PricePatch | undefined;
  readonly metadata?: MetadataPatch | undefined;
}

/** How the animal is sold. */
export interface StoreOrderConfirmation {
  /** Replaces the price of the order; `null` removes it. */
  readonly price?: PricePatch | undefined;
  /** Replaces the seller of the order. */
  readonly seller?: string | undefined;
}

/** Sums in one currency, in its smallest unit. */
export interface SalesAmount {
  /** Three capital letters, as in ISO 4217. */
  readonly currency: string;
  /** The sum of the prices of confirmed orders. */
  readonly sold: number;
  /** The sum of the prices of returned ones. */
  readonly returned: number;
  /** `sold` less `returned`: negative where more was returned. */
  readonly net: number;
}

/** How much was sold and returned. */
export interface SalesFigures {
  /** Orders that were confirmed. */
  readonly sold: number;
  /** Orders whose animal was returned: counted when it was returned, not when it was sold. */
  readonly returned: number;
  /** The sums of the prices, by currency. */
  readonly amounts: readonly SalesAmount[];
}

/** The sales of a day of the time zone, as far as it is in the span. */
export interface SalesOfDay {
  /** The date. */
  readonly date: string;
  /** Orders that were confirmed. */
  readonly sold: number;
  /** Orders whose animal was returned: counted when it was returned, not when it was sold. */
  readonly returned: number;
  /** The sums of the prices, by currency. */
  readonly amounts: readonly SalesAmount[];
}

/** The sales of an hour of the time zone. */
export interface SalesOfHour {
  /** When the hour begins, or the part of it that is in the span. */
  readonly start: string;
  /** Orders that were confirmed. */
  readonly sold: number;
  /** Orders whose animal was returned: counted when it was returned, not when it was sold. */
  readonly returned: number;
  /** The sums of the prices, by currency. */
  readonly amounts: readonly SalesAmount[];
}

/** What one seller sold. */
export interface SalesOfSeller {
  /** The `seller` of the orders. */
  readonly name?: string | undefined;
  /** In the last entry, if there are too many: the number of all others, whose sums it has. */
  readonly other?: number | undefined;
  /** Orders that were confirmed. */
  readonly sold: number;
  /** Orders whose animal was returned: counted when it was returned, not when it was sold. */
  readonly returned: number;
  /** The sums of the prices, by currency. */
  readonly amounts: readonly SalesAmount[];
}

/** The sales of animals that were in a category when they were sold. */
export interface SalesOfCategory<Id = bigint> {
  /** The animal's category when it was sold. */
  readonly categoryId?: Id | undefined;
  /** In the last entry, if there are too many: the number of all others, whose sums it has. */
  readonly other?: number | undefined;
  /** The category's name now, or its last one if it was deleted. Absent if it had none. */
  readonly name?: string | undefined;
  /** Orders that were confirmed. */
  readonly sold: number;
  /** Orders whose animal was returned: counted when it was returned, not when it was sold. */
  readonly returned: number;
  /** The sums of the prices, by currency. */
  readonly amounts: readonly SalesAmount[];
}

/** What a shop has sold in a span of time. */
export interface Sales<Id = bigint> {
  /** The start of the span. */
  readonly since: string;
  /** The end of the span, exclusive. */
  readonly until: string;
  /** The time zone of the days. */
  readonly timeZone: string;
  readonly total: SalesFigures;
  /** The sales of each day, also of days without any. */
  readonly days: readonly SalesOfDay[];
  /** The sales of each hour, if the span is within one day. */
  readonly hours?: readonly SalesOfHour[] | undefined;
  /** The sales by `seller`, most first: at most 500, and then one entry of all others. */
  readonly sellers: readonly SalesOfSeller[];
  /** The sales by category, most first: at most 500, and then one entry of all others. */
  readonly categories: readonly SalesOfCategory<Id>[];
}

/** What is due later: the end of a `reservation`, of a `stored_response` to an `Idempotency-Key`, or of a replaced `webhook_secret`; a retry of a webhook message (`webhook_attempt`); or that a failing endpoint is disabled (`endpoint_disabling`). */
export type SandboxWaitingKind =
  | "reservation"
  | "webhook_attempt"
  | "endpoint_disabling"
  | "stored_response"
  | "webhook_secret";

/** What is due later, of one kind. */
export interface SandboxWaiting {
  readonly kind: SandboxWaitingKind;
  /** How many are waiting, counted up to 10,000. */
  readonly count: number;
  /** When the first one is due. */
  readonly next: string;
}

/** A sandbox. */
export interface Sandbox {
  /** Number of animals. */
  readonly animals: number;
  /** Number of categories. */
  readonly categories: number;
  /** Number of orders, in any state. */
  readonly orders: number;
  /** One entry for each kind of which something waits. */
  readonly waiting: readonly SandboxWaiting[];
}

/** By how much what waits is to be nearer. */
export interface FastForward {
  /** By how many seconds. */
  readonly seconds: number;
}

/** The new contents of the sandbox: nothing, or 24 animals in four categories, with sales of the last 14 days. */
export type SandboxPets = "none" | "samples";

/** How to reset the sandbox. */
export interface SandboxReset {
  readonly animals: SandboxPets;
}

/** How many animals the shop has, by status. */
export interface AnimalFigures {
  /** All animals. */
  readonly total: number;
  /** Those that are `available`. */
  readonly available: number;
  /** Those that are `pending`. */
  readonly pending: number;
  /** Those that are `sold`. */
  readonly sold: number;
  /** Those without a status. */
  readonly withoutStatus: number;
}

/** How many animals belong to a category. */
export interface CategoryFigure<Id = bigint> {
  /** Identifier of the category. */
  readonly categoryId: Id;
  /** Animals in the category. */
  readonly animals: number;
}

/** Counts of the current day of the shop. */
export interface DayFigures {
  /** When the counts begin: at the start of the day in the shop's time zone; later only on a day with very many changes on which the time zone was changed. */
  readonly since: string;
  /** Animals that were added or imported. */
  readonly added: number;
  /** How often an animal's status was set to `sold` by hand, which counts as no sale. */
  readonly markedSold: number;
  /** Orders that were confirmed. */
  readonly sold: number;
  /** Orders that expired. */
  readonly expired: number;
  /** Orders whose animal was returned. */
  readonly returned: number;
}

/** The figures of a shop. */
export interface ShopSummary<Id = bigint> {
  /** The time zone whose days are the shop's, by its name in the IANA database. */
  readonly timeZone: string;
  /** The currency of prices that name none. Absent until it is set. */
  readonly currency?: string | undefined;
  readonly animals: AnimalFigures;
  /** How many animals the shop may hold. Absent if any number. */
  readonly animalsAllowed?: number | undefined;
  /** The 100 categories with the most animals, largest first, among the first 10,000 that have or had animals. */
  readonly categories: readonly CategoryFigure<Id>[];
  /** Orders that are `placed`. */
  readonly openOrders: number;
  readonly today: DayFigures;
}

/** The settings of a shop to change (JSON Merge Patch, RFC 7396). */
export interface ShopPatch {
  /** The time zone whose days are the shop's, by its name in the IANA database. */
  readonly timeZone?: string | undefined;
  /** The currency of prices that name none; `null` removes it. */
  readonly currency?: string | null | undefined;
}

/** Which shop a key is for: the live one, or the sandbox (`test`). */
export type KeyMode = "live" | "test";

/** What an API key may do. */
export type Scope = "read" | "write" | "admin";

/** The account that the key belongs to. */
export interface KeyAccount {
  /** Identifies the account. */
  readonly id: string;
  /** The account's name. */
  readonly name: string;
  /** The account's plan. */
  readonly plan: string;
}

/** A window in which requests are counted. */
export interface LimitWindow {
  /** Requests allowed in the window. */
  readonly limit: number;
  /** Requests counted in the window. */
  readonly used: number;
  /** Requests left in the window. */
  readonly remaining: number;
  /** When the window ends, as a Unix timestamp in seconds. */
  readonly reset: number;
}

/** The windows of the shop, which all of its keys share, and of the key. */
export interface KeyLimits {
  /** The current minute. Its first request began it. */
  readonly minute: LimitWindow;
  /** The UTC calendar day. */
  readonly day: LimitWindow;
  /** The key's own minute. Absent without `limitPerMinute`. */
  readonly key?: LimitWindow | undefined;
}

/** Strikes of the key. Waiting for `Retry-After` resets them to 0, and so does a ban. */
export interface KeyStrikes {
  /** Requests sent more than a second after a 429, before its `Retry-After` had passed. */
  readonly count: number;
  /** How many more strikes lead to a ban. */
  readonly untilBan: number;
}

/** The ban of the key. Absent if it is not banned. */
export interface KeyBan {
  /** Why the key is banned. */
  readonly reason: string;
  /** When the ban ends, in real time. */
  readonly endsAt: string;
}

/** How long bans last. */
export interface BanSchedule {
  /** How long the next ban of the key would last, in seconds. */
  readonly next: number;
  /** How long the first ban lasts (each further one lasts twice as long), in seconds. */
  readonly first: number;
  /** How long a ban lasts at the most, in seconds. */
  readonly longest: number;
  /** Time without a ban after which the next lasts as long as the first, in seconds. */
  readonly forgottenAfter: number;
}

/** The calling key, its account, and its current limits. */
export interface CurrentKey {
  /** Identifies the key. Not secret. */
  readonly id: string;
  /** The key's name. */
  readonly name: string;
  readonly mode: KeyMode;
  /** The key's first and last characters. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key expires. Absent if never. */
  readonly expiresAt?: string | undefined;
  /** Requests that the key may send in a minute. Absent if only the plan limits it. */
  readonly limitPerMinute?: number | undefined;
  readonly account: KeyAccount;
  readonly limits: KeyLimits;
  readonly strikes: KeyStrikes;
  readonly ban?: KeyBan | undefined;
  readonly bans: BanSchedule;
}

/** An API key without its secret text, and its ban. */
export interface ListedApiKey {
  /** Identifies the key. Not secret. */
  readonly id: string;
  /** The key's name. */
  readonly name: string;
  readonly mode: KeyMode;
  /** The key's first and last characters. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key expires. Absent if never. */
  readonly expiresAt?: string | undefined;
  /** Requests that the key may send in a minute. Absent if only the plan limits it. */
  readonly limitPerMinute?: number | undefined;
  /** When the key was revoked. Absent if it was not. */
  readonly revokedAt?: string | undefined;
  /** When the key was last used, to the minute. Absent if never used. */
  readonly lastUsedAt?: string | undefined;
  readonly ban?: KeyBan | undefined;
}

/** An API key to create. */
export interface NewApiKey {
  /** The key's name. */
  readonly name: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** Default: the mode of the calling key. */
  readonly mode?: KeyMode | undefined;
  /** Seconds until the key expires. By default it never expires. */
  readonly expiresIn?: number | undefined;
  /** Requests a minute, at most those of the plan. */
  readonly limitPerMinute?: number | undefined;
}

/** A new API key with its secret text, which is not shown again. */
export interface IssuedApiKey {
  /** The secret text of the key, shown only once. */
  readonly key: string;
  /** Identifies the key. Not secret. */
  readonly id: string;
  /** The key's name. */
  readonly name: string;
  readonly mode: KeyMode;
  /** The key's first and last characters. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key expires. Absent if never. */
  readonly expiresAt?: string | undefined;
  /** Requests that the key may send in a minute. Absent if only the plan limits it. */
  readonly limitPerMinute?: number | undefined;
  /** When the key was revoked. Absent if it was not. */
  readonly revokedAt?: string | undefined;
  /** When the key was last used, to the minute. Absent if never used. */
  readonly lastUsedAt?: string | undefined;
}

/** What to change of a key (JSON Merge Patch, RFC 7396). */
export interface ApiKeyPatch {
  /** Requests a minute, at most those of the plan; `null` removes it. */
  readonly limitPerMinute?: number | null | undefined;
}

/** An API key without its secret text. */
export interface ApiKey {
  /** Identifies the key. Not secret. */
  readonly id: string;
  /** The key's name. */
  readonly name: string;
  readonly mode: KeyMode;
  /** The key's first and last characters. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key expires. Absent if never. */
  readonly expiresAt?: string | undefined;
  /** Requests that the key may send in a minute. Absent if only the plan limits it. */
  readonly limitPerMinute?: number | undefined;
  /** When the key was revoked. Absent if it was not. */
  readonly revokedAt?: string | undefined;
  /** When the key was last used, to the minute. Absent if never used. */
  readonly lastUsedAt?: string | undefined;
}

/** A new API key with its secret text, and the key that it replaces. */
export interface ReplacingApiKey {
  /** The secret text of the key, shown only once. */
  readonly key: string;
  /** Identifies the key. Not secret. */
  readonly id: string;
  /** The key's name. */
  readonly name: string;
  readonly mode: KeyMode;
  /** The key's first and last characters. */
  readonly hint: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key expires. Absent if never. */
  readonly expiresAt?: string | undefined;
  /** Requests that the key may send in a minute. Absent if only the plan limits it. */
  readonly limitPerMinute?: number | undefined;
  /** When the key was revoked. Absent if it was not. */
  readonly revokedAt?: string | undefined;
  /** When the key was last used, to the minute. Absent if never used. */
  readonly lastUsedAt?: string | undefined;
  readonly replaced: ApiKey;
}

/** Requests of one operation with the same response status. */
export interface UsageCount {
  /** The operation. Absent for requests whose path and method match none. */
  readonly operation?: string | undefined;
  /** The status of the responses. */
  readonly status: number;
  /** The number of requests. */
  readonly requests: number;
  /** True for a deprecated operation. */
  readonly deprecated?: boolean | undefined;
}

/** Requests of a shop in an hour or a day. */
export interface UsageInterval {
  /** When the hour or day begins. */
  readonly start: string;
  /** All requests in the interval. */
  readonly requests: number;
  /** The same requests by operation and status. */
  readonly operations: readonly UsageCount[];
}

/** The stage in which the request failed. Stages run in this order. */
export type RequestStage =
  | "identify"
  | "shedLoad"
  | "resolve"
  | "admit"
  | "simulate"
  | "readInput"
  | "handle"
  | "openStream";

/** One fault of a request that was rejected. */
export interface RequestFault {
  /** Where the fault is: a JSON Pointer (RFC 6901) into an object with the members `header`, `query` and `body`. */
  readonly path: string;
  /** What is wrong there. */
  readonly message: string;
}

/** A request that failed, or any POST, PATCH or DELETE. */
export interface RequestRecord {
  /** The `X-Request-Id` of the response. */
  readonly id: string;
  /** The `X-Request-Id` that the client sent. */
  readonly clientRequestId?: string | undefined;
  /** When the response was sent, in real time. */
  readonly at: string;
  /** The HTTP method. */
  readonly method: string;
  /** The operation. Absent if path and method match none. */
  readonly operation?: string | undefined;
  /** The path without the query. Absent if an id in it is malformed. */
  readonly path?: string | undefined;
  /** The key that sent it. */
  readonly keyId: string;
  /** The client's address: IPv4, or the first 64 bits of IPv6. */
  readonly address?: string | undefined;
  /** The status of the response. */
  readonly status: number;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** `X-RateLimit-Limit` of the response. */
  readonly limit?: number | undefined;
  /** `X-RateLimit-Remaining` of the response. */
  readonly remaining?: number | undefined;
  /** The error code. Only failures have `code`, `stage`, `message` and `details`. */
  readonly code?: string | undefined;
  readonly stage?: RequestStage | undefined;
  /** The error message. */
  readonly message?: string | undefined;
  /** The faults of an invalid input. */
  readonly details?: readonly RequestFault[] | undefined;
  /** What happened. For a failure, the stage and the reason. */
  readonly explanation: string;
  /** How to fix a failure. */
  readonly advice?: string | undefined;
}

/** The kind of resource and what was done to it. */
export type EventType =
  | "pet.created"
  | "pet.updated"
  | "pet.deleted"
  | "pets.reassigned"
  | "category.created"
  | "category.updated"
  | "category.deleted"
  | "order.placed"
  | "order.confirmed"
  | "order.cancelled"
  | "order.expired"
  | "order.returned"
  | "order.updated"
  | "shop.updated"
  | "key.created"
  | "key.updated"
  | "key.rotated"
  | "key.revoked"
  | "key.banned"
  | "webhook_endpoint.created"
  | "webhook_endpoint.updated"
  | "webhook_endpoint.disabled"
  | "webhook_endpoint.deleted";

/** `system` is the service itself, `operator` a command that its operator ran. */
export type EventActorKind = "key" | "system" | "operator";

/** Who made the change. */
export interface EventActor {
  readonly kind: EventActorKind;
  /** The key that was used. */
  readonly keyId?: string | undefined;
  /** `X-Request-Id` of the response. */
  readonly requestId?: string | undefined;
}

/** The resource that was changed. */
export interface EventSubject {
  /** The first part of the event's `type`. */
  readonly type: string;
  /** The identifier of the resource, as text. `pets.reassigned`: the old category. */
  readonly id: string;
}

/** An animal was added. */
export interface PetCreatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "pet.created";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: Pet<Id>;
  readonly previous?: undefined;
}

/** Availability status of an animal. */
export type PreviousPetStatus = "available" | "pending" | "sold" | null;

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export type PreviousPrice = {
  /** The amount in the smallest unit of the currency, such as cents. */
  readonly amount?: number | undefined;
  /** Three capital letters, as in ISO 4217. */
  readonly currency?: string | undefined;
} | null;

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export type PreviousMetadata = { readonly [name: string]: string | null } | null;

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export interface PreviousPet<Id = bigint> {
  /** Unique identifier assigned by the service on creation. */
  readonly id?: Id | undefined;
  /** The animal's name. */
  readonly name?: string | undefined;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId?: Id | undefined;
  readonly status?: PreviousPetStatus | undefined;
  readonly price?: PreviousPrice | undefined;
  /** Your own number for the animal, such as that of its chip, ring or label. Unique within the shop, in exactly this form. */
  readonly reference?: string | null | undefined;
  readonly metadata?: PreviousMetadata | undefined;
}

/** An animal was changed, manually or by an order. */
export interface PetUpdatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "pet.updated";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: Pet<Id>;
  readonly previous: PreviousPet<Id>;
}

/** An animal was deleted. */
export interface PetDeletedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "pet.deleted";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data?: undefined;
  readonly previous: Pet<Id>;
}

/** A move of animals from a category to another. */
export interface Reassignment<Id = bigint> {
  /** The category that the animals left. */
  readonly from: Id;
  /** The category that they belong to now. */
  readonly to: Id;
  /** How many animals were moved. */
  readonly animals: number;
  /** The first of them: all animals of `from` from this one to the last are in `to` now. */
  readonly firstPetId: Id;
  /** The last of them. */
  readonly lastPetId: Id;
}

/** Animals of one category, in a range of ids, were moved to another. */
export interface PetsReassignedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "pets.reassigned";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: Reassignment<Id>;
  readonly previous?: undefined;
}

/** A category was added. */
export interface CategoryCreatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "category.created";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: Category<Id>;
  readonly previous?: undefined;
}

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export interface PreviousCategory<Id = bigint> {
  /** Unique identifier. */
  readonly id?: Id | undefined;
  /** The category's unique name. */
  readonly name?: string | undefined;
  readonly metadata?: PreviousMetadata | undefined;
}

/** A category was changed. */
export interface CategoryUpdatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "category.updated";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: Category<Id>;
  readonly previous: PreviousCategory<Id>;
}

/** A category was deleted. */
export interface CategoryDeletedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "category.deleted";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data?: undefined;
  readonly previous: Category<Id>;
}

/** An order reserved an animal. */
export interface OrderPlacedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "order.placed";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: StoreOrder<Id>;
  readonly previous?: undefined;
}

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export type PreviousSeller = {
  /** The identifier of the key. Absent if it was no key of yours. */
  readonly keyId?: string | null | undefined;
  /** The name of the key. */
  readonly name?: string | undefined;
} | null;

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export interface PreviousStoreOrder<Id = bigint> {
  /** Unique identifier assigned by the service. */
  readonly id?: Id | undefined;
  /** Identifier of the animal. */
  readonly petId?: Id | undefined;
  /** Your own name for the order, such as a receipt number. Stored unchanged. */
  readonly reference?: string | null | undefined;
  readonly status?: StoreOrderStatus | undefined;
  readonly price?: PreviousPrice | undefined;
  /** Who sold the animal, for the figures of sales. Default: the name of the key that confirms the order. */
  readonly seller?: string | null | undefined;
  /** When the order was placed. */
  readonly placedAt?: string | undefined;
  /** When the reservation ends if the order is neither confirmed nor cancelled. */
  readonly expiresAt?: string | undefined;
  /** When the order was confirmed. */
  readonly confirmedAt?: string | null | undefined;
  readonly confirmedBy?: PreviousSeller | undefined;
  /** The animal's name when it was sold. */
  readonly petName?: string | null | undefined;
  /** The animal's category when it was sold. */
  readonly categoryId?: Id | null | undefined;
  /** When the order was cancelled. */
  readonly cancelledAt?: string | null | undefined;
  /** When the animal was returned. */
  readonly returnedAt?: string | null | undefined;
  readonly metadata?: PreviousMetadata | undefined;
}

/** An order was confirmed, and its animal is now sold. */
export interface OrderConfirmedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "order.confirmed";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: ConfirmedStoreOrder<Id>;
  readonly previous: PreviousStoreOrder<Id>;
}

/** An order was cancelled, and its animal is available again. */
export interface OrderCancelledEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "order.cancelled";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: StoreOrder<Id>;
  readonly previous: PreviousStoreOrder<Id>;
}

/** The reservation of an order ended. */
export interface OrderExpiredEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "order.expired";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: StoreOrder<Id>;
  readonly previous: PreviousStoreOrder<Id>;
}

/** A sold animal was returned. */
export interface OrderReturnedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "order.returned";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: StoreOrder<Id>;
  readonly previous: PreviousStoreOrder<Id>;
}

/** The reference, price, metadata or end of reservation of an order was changed. */
export interface OrderUpdatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "order.updated";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: StoreOrder<Id>;
  readonly previous: PreviousStoreOrder<Id>;
}

/** What a shop has chosen. */
export interface ShopSettings {
  /** The time zone whose days are the shop's, by its name in the IANA database. */
  readonly timeZone: string;
  /** The currency of prices that name none. Absent until it is set. */
  readonly currency?: string | undefined;
}

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export interface PreviousShopSettings {
  /** The time zone whose days are the shop's, by its name in the IANA database. */
  readonly timeZone?: string | undefined;
  /** The currency of prices that name none. Absent until it is set. */
  readonly currency?: string | null | undefined;
}

/** The settings of the shop were changed. */
export interface ShopUpdatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "shop.updated";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: ShopSettings;
  readonly previous: PreviousShopSettings;
}

/** A key was created. */
export interface KeyCreatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "key.created";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: ApiKey;
  readonly previous?: undefined;
}

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export interface PreviousApiKey {
  /** Identifies the key. Not secret. */
  readonly id?: string | undefined;
  /** The key's name. */
  readonly name?: string | undefined;
  readonly mode?: KeyMode | undefined;
  /** The key's first and last characters. */
  readonly hint?: string | undefined;
  /** What the key may do. */
  readonly scopes?: readonly Scope[] | undefined;
  /** When the key was created. */
  readonly createdAt?: string | undefined;
  /** When the key expires. Absent if never. */
  readonly expiresAt?: string | null | undefined;
  /** Requests that the key may send in a minute. Absent if only the plan limits it. */
  readonly limitPerMinute?: number | null | undefined;
  /** When the key was revoked. Absent if it was not. */
  readonly revokedAt?: string | null | undefined;
  /** When the key was last used, to the minute. Absent if never used. */
  readonly lastUsedAt?: string | null | undefined;
}

/** The limit of a key was changed. */
export interface KeyUpdatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "key.updated";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: ApiKey;
  readonly previous: PreviousApiKey;
}

/** A key was replaced by another. */
export interface KeyRotatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "key.rotated";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: ApiKey;
  readonly previous: PreviousApiKey;
}

/** A key was revoked. */
export interface KeyRevokedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "key.revoked";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: ApiKey;
  readonly previous: PreviousApiKey;
}

/** A key was banned temporarily, because it kept sending requests after a 429. */
export interface KeyBannedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "key.banned";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: ListedApiKey;
  readonly previous?: undefined;
}

/** `paused`: by a request. Its events are sent once it is enabled, if still stored. `disabled`: by the service, after 5 days of failures, a 410 or its expiry. Its events are sent only by `redeliverWebhooks`. */
export type WebhookEndpointState = "enabled" | "paused" | "disabled";

/** A webhook endpoint without the state of its deliveries. */
export interface RecordedWebhookEndpoint {
  /** Identifies the endpoint. */
  readonly id: string;
  /** Where to send messages: an https URL, except in development. */
  readonly url: string;
  /** The event types to send. */
  readonly types: readonly string[];
  /** What the endpoint is for. */
  readonly description: string;
  readonly state: WebhookEndpointState;
  /** Verifies `v1a` signatures (`whpk_`). Absent if the service has lost the secret's key (rotate the secret), and in events whose actor is `operator`. */
  readonly publicKey?: string | undefined;
  /** When the endpoint was created. */
  readonly createdAt: string;
  /** When the endpoint is disabled: with the key that set its URL. */
  readonly expiresAt?: string | undefined;
}

/** An endpoint was created. */
export interface WebhookEndpointCreatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "webhook_endpoint.created";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: RecordedWebhookEndpoint;
  readonly previous?: undefined;
}

/** The old values of changed fields, null for a field that was absent: a JSON Merge Patch (RFC 7396). */
export interface PreviousRecordedWebhookEndpoint {
  /** Identifies the endpoint. */
  readonly id?: string | undefined;
  /** Where to send messages: an https URL, except in development. */
  readonly url?: string | undefined;
  /** The event types to send. */
  readonly types?: readonly string[] | undefined;
  /** What the endpoint is for. */
  readonly description?: string | undefined;
  readonly state?: WebhookEndpointState | undefined;
  /** Verifies `v1a` signatures (`whpk_`). Absent if the service has lost the secret's key (rotate the secret), and in events whose actor is `operator`. */
  readonly publicKey?: string | null | undefined;
  /** When the endpoint was created. */
  readonly createdAt?: string | undefined;
  /** When the endpoint is disabled: with the key that set its URL. */
  readonly expiresAt?: string | null | undefined;
}

/** An endpoint was changed, or its secret was replaced. */
export interface WebhookEndpointUpdatedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "webhook_endpoint.updated";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: RecordedWebhookEndpoint;
  readonly previous: PreviousRecordedWebhookEndpoint;
}

/** The service disabled an endpoint because it failed for 5 days, returned 410 or expired. */
export interface WebhookEndpointDisabledEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "webhook_endpoint.disabled";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: RecordedWebhookEndpoint;
  readonly previous: PreviousRecordedWebhookEndpoint;
}

/** An endpoint was deleted. */
export interface WebhookEndpointDeletedEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "webhook_endpoint.deleted";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data?: undefined;
  readonly previous: RecordedWebhookEndpoint;
}

/** A change, usually of one resource. `data` is the resource after it, absent if it was deleted. `previous` holds the old values of changed fields; of a deleted resource, all. Later releases may send other types. */
export type Event<Id = bigint> =
  | PetCreatedEvent<Id>
  | PetUpdatedEvent<Id>
  | PetDeletedEvent<Id>
  | PetsReassignedEvent<Id>
  | CategoryCreatedEvent<Id>
  | CategoryUpdatedEvent<Id>
  | CategoryDeletedEvent<Id>
  | OrderPlacedEvent<Id>
  | OrderConfirmedEvent<Id>
  | OrderCancelledEvent<Id>
  | OrderExpiredEvent<Id>
  | OrderReturnedEvent<Id>
  | OrderUpdatedEvent<Id>
  | ShopUpdatedEvent<Id>
  | KeyCreatedEvent<Id>
  | KeyUpdatedEvent<Id>
  | KeyRotatedEvent<Id>
  | KeyRevokedEvent<Id>
  | KeyBannedEvent<Id>
  | WebhookEndpointCreatedEvent<Id>
  | WebhookEndpointUpdatedEvent<Id>
  | WebhookEndpointDisabledEvent<Id>
  | WebhookEndpointDeletedEvent<Id>;

/** An event type, or `*` for all. */
export type WebhookEventType =
  | "*"
  | "pet.created"
  | "pet.updated"
  | "pet.deleted"
  | "pets.reassigned"
  | "category.created"
  | "category.updated"
  | "category.deleted"
  | "order.placed"
  | "order.confirmed"
  | "order.cancelled"
  | "order.expired"
  | "order.returned"
  | "order.updated"
  | "shop.updated"
  | "key.created"
  | "key.updated"
  | "key.rotated"
  | "key.revoked"
  | "key.banned"
  | "webhook_endpoint.created"
  | "webhook_endpoint.updated"
  | "webhook_endpoint.disabled"
  | "webhook_endpoint.deleted";

/** Why a delivery failed. */
export type WebhookFailure =
  | "url_invalid"
  | "url_not_https"
  | "url_has_credentials"
  | "url_port_refused"
  | "address_not_global"
  | "address_denied"
  | "name_not_resolved"
  | "connection_failed"
  | "tls_failed"
  | "timed_out"
  | "response_invalid"
  | "redirected"
  | "error_status"
  | "secret_lost";

/** The latest delivery that failed. */
export interface LastWebhookFailure<Id = bigint> {
  /** When it failed. */
  readonly at: string;
  readonly failure: WebhookFailure;
  /** A description of the reason. */
  readonly message: string;
  /** The status of the response, if one arrived. */
  readonly status?: number | undefined;
  /** The failed delivery. */
  readonly deliveryId: Id;
}

/** What a disabled endpoint missed: a body for `redeliverWebhooks`. Gone once it is resumed or paused. */
export interface MissedWebhookEvents<Id = bigint> {
  /** The first event that it may have missed. */
  readonly from: Id;
}

/** A URL that receives events of the shop. */
export interface WebhookEndpoint<Id = bigint> {
  /** Identifies the endpoint. */
  readonly id: string;
  /** Where to send messages: an https URL, except in development. */
  readonly url: string;
  /** The event types to send. */
  readonly types: readonly WebhookEventType[];
  /** What the endpoint is for. */
  readonly description: string;
  readonly state: WebhookEndpointState;
  /** Verifies `v1a` signatures (`whpk_`). Absent if the service has lost the secret's key (rotate the secret), and in events whose actor is `operator`. */
  readonly publicKey?: string | undefined;
  /** When the endpoint was created. */
  readonly createdAt: string;
  /** When the endpoint is disabled: with the key that set its URL. */
  readonly expiresAt?: string | undefined;
  /** The share of deliveries in the last 24 hours that succeeded. Absent if there were none. */
  readonly successRate24h?: number | undefined;
  /** When the current series of failures began. Between two failures, at most 28.8 hours are counted, so it can be later than the first one. */
  readonly failingSince?: string | undefined;
  /** The next delivery, while the endpoint waits after failures. */
  readonly retriesAt?: string | undefined;
  readonly lastFailure?: LastWebhookFailure<Id> | undefined;
  readonly missed?: MissedWebhookEvents<Id> | undefined;
}

/** Endpoints, oldest first. */
export type WebhookEndpoints<Id = bigint> = readonly WebhookEndpoint<Id>[];

/** A webhook endpoint to create. */
export interface NewWebhookEndpoint {
  /** Where to send messages: an https URL, except in development. */
  readonly url: string;
  /** The event types to send. Default: all (`*`). */
  readonly types?: readonly WebhookEventType[] | undefined;
  /** What the endpoint is for. */
  readonly description?: string | undefined;
}

/** A webhook endpoint and its new secret. */
export interface WebhookEndpointWithSecret<Id = bigint> {
  /** Verifies `v1` signatures (`whsec_`). Shown only once. */
  readonly secret: string;
  /** Identifies the endpoint. */
  readonly id: string;
  /** Where to send messages: an https URL, except in development. */
  readonly url: string;
  /** The event types to send. */
  readonly types: readonly WebhookEventType[];
  /** What the endpoint is for. */
  readonly description: string;
  readonly state: WebhookEndpointState;
  /** Verifies `v1a` signatures (`whpk_`). Absent if the service has lost the secret's key (rotate the secret), and in events whose actor is `operator`. */
  readonly publicKey?: string | undefined;
  /** When the endpoint was created. */
  readonly createdAt: string;
  /** When the endpoint is disabled: with the key that set its URL. */
  readonly expiresAt?: string | undefined;
  /** The share of deliveries in the last 24 hours that succeeded. Absent if there were none. */
  readonly successRate24h?: number | undefined;
  /** When the current series of failures began. Between two failures, at most 28.8 hours are counted, so it can be later than the first one. */
  readonly failingSince?: string | undefined;
  /** The next delivery, while the endpoint waits after failures. */
  readonly retriesAt?: string | undefined;
  readonly lastFailure?: LastWebhookFailure<Id> | undefined;
  readonly missed?: MissedWebhookEvents<Id> | undefined;
}

/** The fields of an endpoint to change (JSON Merge Patch, RFC 7396). */
export interface WebhookEndpointPatch {
  /** Where to send messages: an https URL, except in development. */
  readonly url?: string | undefined;
  /** The event types to send. */
  readonly types?: readonly WebhookEventType[] | undefined;
  /** What the endpoint is for. */
  readonly description?: string | undefined;
  /** True pauses the endpoint. False enables it, even if it was disabled. */
  readonly paused?: boolean | undefined;
  /** Lets the endpoint outlive the key that set its URL. The calling key must not expire. */
  readonly expiresAt?: null | undefined;
}

/** What to send again. */
export interface NewWebhookRedelivery {
  /** The first event. Default: the oldest stored one. */
  readonly from?: Int64 | undefined;
  /** The last event. Default: the newest one. */
  readonly to?: Int64 | undefined;
  /** Send only the message of this delivery. Not with `from` or `to`. */
  readonly deliveryId?: Int64 | undefined;
}

/** The events to send again. */
export interface WebhookRedelivery<Id = bigint> {
  /** The first event to send again. */
  readonly from: Id;
  /** The last event to send again. */
  readonly to: Id;
}

/** Why the message was sent. */
export type WebhookDeliveryKind = "event" | "redelivery" | "test";

/** Whether the receiver accepted the message. */
export type WebhookDeliveryOutcome = "succeeded" | "failed";

/** One attempt to send a message to an endpoint. */
export interface WebhookDelivery<Id = bigint> {
  /** Identifies the delivery at its endpoint. */
  readonly id: Id;
  /** The `webhook-id` of the message, the same in all its deliveries. */
  readonly webhookId: string;
  readonly kind: WebhookDeliveryKind;
  /** The type of the event. */
  readonly type: string;
  /** The event. Absent for a test. */
  readonly eventId?: Id | undefined;
  /** 1 for the first delivery. A redelivery starts at 1 again. */
  readonly attempt: number;
  /** When the delivery ended. */
  readonly at: string;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  readonly outcome: WebhookDeliveryOutcome;
  readonly failure?: WebhookFailure | undefined;
  /** A description of the failure. */
  readonly message?: string | undefined;
  /** The status of the response, if one arrived. */
  readonly status?: number | undefined;
  /** The first 1,024 bytes of the response. Absent in lists. */
  readonly response?: string | undefined;
}

/** The shop: the live one, or the sandbox (`test`). */
export type WebhookMode = "live" | "test";

/** An animal was added. */
export interface PetCreatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "pet.created";
  readonly data: PetCreatedEvent<Id>;
}

/** An animal was changed, manually or by an order. */
export interface PetUpdatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "pet.updated";
  readonly data: PetUpdatedEvent<Id>;
}

/** An animal was deleted. */
export interface PetDeletedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "pet.deleted";
  readonly data: PetDeletedEvent<Id>;
}

/** Animals of one category, in a range of ids, were moved to another. */
export interface PetsReassignedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "pets.reassigned";
  readonly data: PetsReassignedEvent<Id>;
}

/** A category was added. */
export interface CategoryCreatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "category.created";
  readonly data: CategoryCreatedEvent<Id>;
}

/** A category was changed. */
export interface CategoryUpdatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "category.updated";
  readonly data: CategoryUpdatedEvent<Id>;
}

/** A category was deleted. */
export interface CategoryDeletedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "category.deleted";
  readonly data: CategoryDeletedEvent<Id>;
}

/** An order reserved an animal. */
export interface OrderPlacedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "order.placed";
  readonly data: OrderPlacedEvent<Id>;
}

/** An order was confirmed, and its animal is now sold. */
export interface OrderConfirmedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "order.confirmed";
  readonly data: OrderConfirmedEvent<Id>;
}

/** An order was cancelled, and its animal is available again. */
export interface OrderCancelledMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "order.cancelled";
  readonly data: OrderCancelledEvent<Id>;
}

/** The reservation of an order ended. */
export interface OrderExpiredMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "order.expired";
  readonly data: OrderExpiredEvent<Id>;
}

/** A sold animal was returned. */
export interface OrderReturnedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "order.returned";
  readonly data: OrderReturnedEvent<Id>;
}

/** The reference, price, metadata or end of reservation of an order was changed. */
export interface OrderUpdatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "order.updated";
  readonly data: OrderUpdatedEvent<Id>;
}

/** The settings of the shop were changed. */
export interface ShopUpdatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "shop.updated";
  readonly data: ShopUpdatedEvent<Id>;
}

/** A key was created. */
export interface KeyCreatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "key.created";
  readonly data: KeyCreatedEvent<Id>;
}

/** The limit of a key was changed. */
export interface KeyUpdatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "key.updated";
  readonly data: KeyUpdatedEvent<Id>;
}

/** A key was replaced by another. */
export interface KeyRotatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "key.rotated";
  readonly data: KeyRotatedEvent<Id>;
}

/** A key was revoked. */
export interface KeyRevokedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "key.revoked";
  readonly data: KeyRevokedEvent<Id>;
}

/** A key was banned temporarily, because it kept sending requests after a 429. */
export interface KeyBannedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "key.banned";
  readonly data: KeyBannedEvent<Id>;
}

/** An endpoint was created. */
export interface WebhookEndpointCreatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "webhook_endpoint.created";
  readonly data: WebhookEndpointCreatedEvent<Id>;
}

/** An endpoint was changed, or its secret was replaced. */
export interface WebhookEndpointUpdatedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "webhook_endpoint.updated";
  readonly data: WebhookEndpointUpdatedEvent<Id>;
}

/** The service disabled an endpoint because it failed for 5 days, returned 410 or expired. */
export interface WebhookEndpointDisabledMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "webhook_endpoint.disabled";
  readonly data: WebhookEndpointDisabledEvent<Id>;
}

/** An endpoint was deleted. */
export interface WebhookEndpointDeletedMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "webhook_endpoint.deleted";
  readonly data: WebhookEndpointDeletedEvent<Id>;
}

/** The endpoint that is tested. */
export interface TestedWebhookEndpoint {
  /** Identifies the endpoint. */
  readonly id: string;
}

/** The message of `testWebhookEndpoint`. It is not in the log, and its `id` is 0. */
export interface WebhookEndpointTestEvent<Id = bigint> {
  /** The number of the event in the shop, from 1 without gaps. */
  readonly id: Id;
  readonly type: "webhook_endpoint.test";
  /** When the change was made, never earlier than the previous event. */
  readonly at: string;
  readonly actor: EventActor;
  readonly subject: EventSubject;
  readonly data: TestedWebhookEndpoint;
}

/** The message of `testWebhookEndpoint`. It is not in the log, and its `id` is 0. */
export interface WebhookEndpointTestMessage<Id = bigint> {
  /** Identifies the message. All its deliveries have the same. */
  readonly id: string;
  /** When the change was made. */
  readonly timestamp: string;
  readonly mode: WebhookMode;
  readonly type: "webhook_endpoint.test";
  readonly data: WebhookEndpointTestEvent<Id>;
}

/** A message about an event. Later releases may send other types. */
export type WebhookMessage<Id = bigint> =
  | PetCreatedMessage<Id>
  | PetUpdatedMessage<Id>
  | PetDeletedMessage<Id>
  | PetsReassignedMessage<Id>
  | CategoryCreatedMessage<Id>
  | CategoryUpdatedMessage<Id>
  | CategoryDeletedMessage<Id>
  | OrderPlacedMessage<Id>
  | OrderConfirmedMessage<Id>
  | OrderCancelledMessage<Id>
  | OrderExpiredMessage<Id>
  | OrderReturnedMessage<Id>
  | OrderUpdatedMessage<Id>
  | ShopUpdatedMessage<Id>
  | KeyCreatedMessage<Id>
  | KeyUpdatedMessage<Id>
  | KeyRotatedMessage<Id>
  | KeyRevokedMessage<Id>
  | KeyBannedMessage<Id>
  | WebhookEndpointCreatedMessage<Id>
  | WebhookEndpointUpdatedMessage<Id>
  | WebhookEndpointDisabledMessage<Id>
  | WebhookEndpointDeletedMessage<Id>
  | WebhookEndpointTestMessage<Id>;

/** Sort order: `id`, the default, returns the oldest animals first, `-id` the newest. `name` and `-name` ignore case, and compare the first 64 characters, then the `id`. A search sorts by name. */
export type PetSort = "id" | "-id" | "name" | "-name";

/** Sort order: `id`, the default, returns the oldest orders first, `-id` the newest. `confirmedAt` and `-confirmedAt` return only orders that were confirmed. */
export type StoreOrderSort = "id" | "-id" | "confirmedAt" | "-confirmedAt";

/** The length of the intervals: an hour or a UTC day. They go back 30 days. */
export type UsageGranularity = "hour" | "day";

/** Class of the status: 2xx for successes, 4xx and 5xx for failures. */
export type StatusClass = "2xx" | "4xx" | "5xx";

/** Sort order: `id`, the default, returns the oldest events first, `-id` the newest. */
export type EventSort = "id" | "-id";

/** The query of `listPets`. */
export interface ListPetsQuery {
  /** Maximum number of animals returned. A page ends early, at 256 KiB. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page. */
  readonly cursor?: string | undefined;
  /** Filters animals by availability status. */
  readonly status?: PetStatus | undefined;
  /** Filters animals by category. */
  readonly categoryId?: Int64 | undefined;
  /** Returns animals whose name contains this text, ignoring case. There are no wildcards. */
  readonly name?: string | undefined;
  /** Filters animals by `id`. One id gives the animal's `ETag`. Up to 100 ids, separated by commas or in repeated parameters. Unknown ids are ignored. `limit` still applies. */
  readonly ids?: readonly Int64[] | undefined;
  /** Returns the animal with this `id` and the one with exactly this `reference`, then those whose name begins with this text, ignoring case, by name. Not with `ids`. An empty text searches nothing. */
  readonly search?: string | undefined;
  readonly sort?: PetSort | undefined;
}

/** The query of `listCategories`. */
export interface ListCategoriesQuery {
  /** Maximum number of categories returned. A page ends early, at 256 KiB. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page. */
  readonly cursor?: string | undefined;
}

/** The query of `deleteCategory`. */
export interface DeleteCategoryQuery {
  /** The identifier of the existing category that the animals move to. */
  readonly moveTo?: Int64 | undefined;
}

/** The query of `listStoreOrders`. */
export interface ListStoreOrdersQuery {
  /** Maximum number of orders returned. A page ends early, at 256 KiB. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page. */
  readonly cursor?: string | undefined;
  /** Filters orders by status. */
  readonly status?: StoreOrderStatus | undefined;
  /** Filters orders by `id`. One id gives the order's `ETag`. Up to 100 ids, separated by commas or in repeated parameters. Unknown ids are ignored. `limit` still applies. */
  readonly ids?: readonly Int64[] | undefined;
  /** Filters orders by animal. Up to 100 ids, separated by commas or in repeated parameters. Unknown ids are ignored. `limit` still applies. */
  readonly petId?: readonly Int64[] | undefined;
  /** Filters orders by exact `reference`. */
  readonly reference?: string | undefined;
  /** Only orders placed at or after this time. */
  readonly since?: string | undefined;
  /** Only orders placed before this time. */
  readonly until?: string | undefined;
  /** Only orders confirmed at or after this time. */
  readonly confirmedSince?: string | undefined;
  /** Only orders confirmed before this time. */
  readonly confirmedUntil?: string | undefined;
  /** Only orders that this key confirmed. */
  readonly confirmedBy?: string | undefined;
  /** Filters orders by exact `seller`. */
  readonly seller?: string | undefined;
  /** Only orders that sold an animal of this category. */
  readonly categoryId?: Int64 | undefined;
  /** Returns the order with this `id`, then those whose `reference` begins with this text, ignoring case, in the order of the first 64 characters, then of the `id`. Not with `sort`. An empty text searches nothing. */
  readonly search?: string | undefined;
  readonly sort?: StoreOrderSort | undefined;
}

/** The query of `getSales`. */
export interface GetSalesQuery {
  /** The start of the span. Default: the start of the day that `until` ends, or of today. */
  readonly since?: string | undefined;
  /** The end of the span, exclusive. Default: now or, without `since`, the end of today. */
  readonly until?: string | undefined;
  /** Whose days are meant: a time zone of the IANA database. Default: the shop's. */
  readonly timeZone?: string | undefined;
}

/** The query of `listKeys`. */
export interface ListKeysQuery {
  /** Maximum number of keys returned. A page ends early, at 256 KiB. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page. */
  readonly cursor?: string | undefined;
  /** Filters keys by mode. */
  readonly mode?: KeyMode | undefined;
}

/** The query of `rotateKey`. */
export interface RotateKeyQuery {
  /** Seconds for which the old key stays valid; 0 ends it at once. At least 60 if it is the calling key, so that the request can be repeated. */
  readonly overlap?: number | undefined;
}

/** The query of `getUsage`. */
export interface GetUsageQuery {
  readonly granularity?: UsageGranularity | undefined;
  /** Counts the requests of this key only. */
  readonly keyId?: string | undefined;
  /** Maximum number of intervals returned. A page ends early, at 256 KiB. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page. */
  readonly cursor?: string | undefined;
}

/** The query of `listRequests`. */
export interface ListRequestsQuery {
  /** Maximum number of requests returned. A page ends early, at 256 KiB. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page. */
  readonly cursor?: string | undefined;
  readonly status?: StatusClass | undefined;
  /** The code of an error. */
  readonly code?: string | undefined;
  /** The name of an operation. */
  readonly operation?: string | undefined;
  /** The key that sent the requests. */
  readonly keyId?: string | undefined;
  /** Only requests at or after this time. */
  readonly since?: string | undefined;
  /** Only requests before this time. */
  readonly until?: string | undefined;
}

/** The query of `listEvents`. */
export interface ListEventsQuery {
  /** Maximum number of events returned. A page ends early, at 256 KiB. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page. */
  readonly cursor?: string | undefined;
  /** Only events with a larger `id`. */
  readonly after?: Int64 | undefined;
  /** Only events of these types, separated by commas or in repeated parameters. */
  readonly type?: readonly EventType[] | undefined;
  /** Only events of this animal and its orders. */
  readonly petId?: Int64 | undefined;
  /** Only events of this order. */
  readonly orderId?: Int64 | undefined;
  /** Only events at or after this time. */
  readonly since?: string | undefined;
  /** Only events before this time. */
  readonly until?: string | undefined;
  readonly sort?: EventSort | undefined;
}

/** The query of `streamEvents`. */
export interface StreamEventsQuery {
  /** Only events with a larger `id`. */
  readonly after?: Int64 | undefined;
  /** Only events of these types, separated by commas or in repeated parameters. */
  readonly type?: readonly EventType[] | undefined;
  /** Only events of this animal and its orders. */
  readonly petId?: Int64 | undefined;
  /** Only events of this order. */
  readonly orderId?: Int64 | undefined;
  /** Only events at or after this time. */
  readonly since?: string | undefined;
  /** Only events before this time. */
  readonly until?: string | undefined;
}

/** The query of `listWebhookDeliveries`. */
export interface ListWebhookDeliveriesQuery {
  /** Maximum number of deliveries returned. A page ends early, at 256 KiB. */
  readonly limit?: number | undefined;
  /** From the `Link` header (`rel="next"`) of the previous page. Send the same filters. Empty for the first page. */
  readonly cursor?: string | undefined;
  /** Filters deliveries by outcome. */
  readonly outcome?: WebhookDeliveryOutcome | undefined;
}

/** Codes of errors that every operation can fail with. */
export type SharedErrorCode =
  | ClientErrorCode
  | "account_suspended"
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
    | "reference_taken"
    | "request_timeout"
    | "sandbox_was_reset"
    | "shop_full"
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
    | "reference_taken"
    | "request_timeout"
    | "sandbox_was_reset"
    | "unsupported_media_type";
  deletePet:
    | SharedErrorCode
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "pet_has_open_order"
    | "pet_not_found"
    | "precondition_failed"
    | "request_timeout"
    | "sandbox_was_reset";
  importPets:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "pets_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "shop_full"
    | "unsupported_media_type";
  deletePets:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "pets_not_deletable"
    | "pets_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "unsupported_media_type";
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
    | "sandbox_was_reset"
    | "unsupported_media_type";
  getCategory: SharedErrorCode | "category_not_found" | "insufficient_scope" | "key_banned";
  updateCategory:
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
    | "sandbox_was_reset"
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
    | "request_timeout"
    | "sandbox_was_reset";
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
    | "sandbox_was_reset"
    | "unsupported_media_type";
  getStoreOrder: SharedErrorCode | "insufficient_scope" | "key_banned" | "order_not_found";
  updateStoreOrder:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "order_not_found"
    | "order_not_open"
    | "payload_too_large"
    | "precondition_failed"
    | "request_timeout"
    | "sandbox_was_reset"
    | "unsupported_media_type";
  confirmStoreOrder:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "order_not_found"
    | "order_not_open"
    | "payload_too_large"
    | "precondition_failed"
    | "request_timeout"
    | "sandbox_was_reset"
    | "unsupported_media_type";
  cancelStoreOrder:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "order_not_found"
    | "order_not_open"
    | "payload_too_large"
    | "precondition_failed"
    | "request_timeout"
    | "sandbox_was_reset";
  returnStoreOrder:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "order_not_confirmed"
    | "order_not_found"
    | "payload_too_large"
    | "pet_deleted"
    | "precondition_failed"
    | "request_timeout"
    | "sandbox_was_reset";
  getSales: SharedErrorCode | "insufficient_scope" | "key_banned";
  getSandbox: SharedErrorCode | "insufficient_scope" | "key_banned" | "test_key_required";
  fastForwardSandbox:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "test_key_required"
    | "unsupported_media_type";
  resetSandbox:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "test_key_required"
    | "unsupported_media_type";
  getShop: SharedErrorCode | "insufficient_scope" | "key_banned";
  updateShop:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "unsupported_media_type";
  getCurrentKey: SharedErrorCode;
  listKeys: SharedErrorCode | "insufficient_scope" | "key_banned";
  createKey:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "lifetime_exceeds_key"
    | "limit_exceeds_key"
    | "mode_not_held"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "scope_not_held"
    | "too_many_keys"
    | "unsupported_media_type";
  updateKey:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "key_ended"
    | "key_not_found"
    | "limit_exceeds_key"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
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
    | "limit_exceeds_key"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "scope_not_held"
    | "too_many_keys";
  revokeKey:
    | SharedErrorCode
    | "insufficient_scope"
    | "key_banned"
    | "key_not_found"
    | "last_admin_key"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset";
  getUsage: SharedErrorCode | "insufficient_scope";
  listRequests: SharedErrorCode | "insufficient_scope";
  getRequest: SharedErrorCode | "insufficient_scope" | "request_not_found";
  listEvents: SharedErrorCode | "events_expired" | "insufficient_scope" | "key_banned";
  getEvent: SharedErrorCode | "event_not_found" | "events_expired" | "insufficient_scope" | "key_banned";
  streamEvents:
    | SharedErrorCode
    | "events_expired"
    | "insufficient_scope"
    | "key_banned"
    | "streams_exhausted"
    | "too_many_streams";
  listWebhookEndpoints: SharedErrorCode | "insufficient_scope" | "key_banned" | "webhooks_unavailable";
  createWebhookEndpoint:
    | SharedErrorCode
    | "address_denied"
    | "address_not_global"
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "too_many_webhook_endpoints"
    | "unsupported_media_type"
    | "url_has_credentials"
    | "url_invalid"
    | "url_not_https"
    | "url_port_refused"
    | "webhooks_unavailable";
  getWebhookEndpoint:
    | SharedErrorCode
    | "insufficient_scope"
    | "key_banned"
    | "webhook_endpoint_not_found"
    | "webhooks_unavailable";
  updateWebhookEndpoint:
    | SharedErrorCode
    | "address_denied"
    | "address_not_global"
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "lifetime_exceeds_key"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "unsupported_media_type"
    | "url_has_credentials"
    | "url_invalid"
    | "url_not_https"
    | "url_port_refused"
    | "webhook_endpoint_not_found"
    | "webhooks_unavailable";
  deleteWebhookEndpoint:
    | SharedErrorCode
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "webhook_endpoint_not_found"
    | "webhooks_unavailable";
  rotateWebhookSecret:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "too_many_webhook_secrets"
    | "webhook_endpoint_not_found"
    | "webhooks_unavailable";
  testWebhookEndpoint:
    | SharedErrorCode
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "too_many_webhook_redeliveries"
    | "webhook_endpoint_not_found"
    | "webhooks_unavailable";
  redeliverWebhooks:
    | SharedErrorCode
    | "events_expired"
    | "idempotency_key_in_use"
    | "idempotency_key_reused"
    | "insufficient_scope"
    | "key_banned"
    | "payload_too_large"
    | "request_timeout"
    | "sandbox_was_reset"
    | "too_many_webhook_redeliveries"
    | "unsupported_media_type"
    | "webhook_delivery_not_found"
    | "webhook_endpoint_not_found"
    | "webhooks_unavailable";
  listWebhookDeliveries:
    | SharedErrorCode
    | "insufficient_scope"
    | "key_banned"
    | "webhook_endpoint_not_found"
    | "webhooks_unavailable";
  getWebhookDelivery:
    | SharedErrorCode
    | "insufficient_scope"
    | "key_banned"
    | "webhook_delivery_not_found"
    | "webhook_endpoint_not_found"
    | "webhooks_unavailable";
}

/** A client of the service: one method for each operation. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- `define` makes the methods
export class Petstore<Ids extends IdKind = "bigint"> extends Client<Ids> {
  static {
    this.define(`
/pets GETql listPets
/pets POSTb createPet
/pets/* GET getPet
/pets/* PATCHb updatePet
/pets/* DELETE deletePet
/pets/import POSTb importPets
/pets/delete POSTb deletePets
/categories GETql listCategories
/categories POSTb createCategory
/categories/* GET getCategory
/categories/* PATCHb updateCategory
/categories/* DELETEq deleteCategory
/store/orders GETql listStoreOrders
/store/orders POSTb placeStoreOrder
/store/orders/* GET getStoreOrder
/store/orders/* PATCHb updateStoreOrder
/store/orders/*/confirm POSTb confirmStoreOrder
/store/orders/*/cancel POST cancelStoreOrder
/store/orders/*/return POST returnStoreOrder
/store/sales GETq getSales
/sandbox GET getSandbox
/sandbox/fast-forward POSTbs fastForwardSandbox
/sandbox/reset POSTbs resetSandbox
/shop GET getShop
/shop PATCHb updateShop
/key GETf getCurrentKey
/keys GETql listKeys
/keys POSTb createKey
/keys/* PATCHb updateKey
/keys/*/rotate POSTq rotateKey
/keys/* DELETE revokeKey
/usage GETqlf getUsage
/requests GETqlf listRequests
/requests/* GETf getRequest
/events GETql listEvents
/events/* GET getEvent
/events/stream GETqe streamEvents
/webhook-endpoints GET listWebhookEndpoints
/webhook-endpoints POSTb createWebhookEndpoint
/webhook-endpoints/* GET getWebhookEndpoint
/webhook-endpoints/* PATCHb updateWebhookEndpoint
/webhook-endpoints/* DELETE deleteWebhookEndpoint
/webhook-endpoints/*/rotate-secret POST rotateWebhookSecret
/webhook-endpoints/*/test POST testWebhookEndpoint
/webhook-endpoints/*/redeliver POSTb redeliverWebhooks
/webhook-endpoints/*/deliveries GETql listWebhookDeliveries
/webhook-endpoints/*/deliveries/* GET getWebhookDelivery`);
  }
}
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- `define` has made these methods
export interface Petstore<Ids extends IdKind> {
  /**
   * List all animals.
   *
   * Returns animals by `id`, or by name, one page at a time. `limit` sets the page size. The `Link` header (`rel="next"`) holds the URL of the next page and is absent on the last one. Animals that are added while you read the pages come at the end by default, and none is returned twice.
   *
   * Filters are combined: an animal must match all of them. Use `ids` to read one or more known animals. With `categoryId` or `name`, or with `status` in a list by name, a page scans at most 10,000 animals. It can hold fewer than `limit` animals, or none, although more follow: continue while there is a `Link`.
   *
   * Needs a key with the scope `read`.
   */
  listPets(query?: ListPetsQuery, options?: CallOptions): Pages<Pet<IdOf<Ids>>>;

  /**
   * Add an animal.
   *
   * Adds an animal and returns it with its assigned `id`. The response is sent after the animal has been written to disk. Without a `status`, the animal has none.
   *
   * Needs a key with the scope `write`.
   */
  createPet(body: NewPet, options?: OnceOptions): Promise<Result<Pet<IdOf<Ids>>>>;

  /**
   * Get an animal.
   *
   * Returns the animal with the given identifier.
   *
   * Needs a key with the scope `read`.
   *
   * @deprecated since 2026-11-21, removed on 2030-12-05: use `listPets`.
   */
  getPet(petId: Int64, options?: CallOptions): Promise<Result<Pet<IdOf<Ids>>>>;

  /**
   * Change an animal.
   *
   * Changes the fields in the body (JSON Merge Patch, RFC 7396) and returns the changed animal. With `If-Match`, the change succeeds only if the animal is still the version that you read. You can change a status that you set yourself, even `sold`. A status that was set by an order changes only with that order.
   *
   * Needs a key with the scope `write`.
   */
  updatePet(petId: Int64, body: PetPatch, options?: OnceOptions & IfMatch): Promise<Result<Pet<IdOf<Ids>>>>;

  /**
   * Delete an animal.
   *
   * Deletes an animal. Its events are kept, and its `id` is never reused. With `If-Match`, the deletion succeeds only if the animal is still the version that you read. A repeated request returns 404.
   *
   * Needs a key with the scope `write`.
   */
  deletePet(petId: Int64, options?: CallOptions & IfMatch): Promise<NoContent>;

  /**
   * Add several animals (beta).
   *
   * Adds up to 500 animals in one request, all or none. The body may have 512 KiB, and so may the metadata of the animals that are updated. With `"onError": "skip"`, adds those without a fault.
   *
   * Needs a key with the scope `write`.
   */
  importPets(body: PetImport, options?: OnceOptions): Promise<Result<ImportedPets<IdOf<Ids>>>>;

  /**
   * Delete several animals (beta).
   *
   * Deletes up to 500 animals, all or none: those of an import, for example. Together they may have 512 KiB of metadata. Ids of no animal are ignored. An animal that an order reserves or has sold cannot be deleted here.
   *
   * Needs a key with the scope `write`.
   */
  deletePets(body: PetDeletion, options?: OnceOptions): Promise<Result<DeletedPets<IdOf<Ids>>>>;

  /**
   * List all categories.
   *
   * Returns categories by ascending `id`, one page at a time.
   *
   * Needs a key with the scope `read`.
   */
  listCategories(query?: ListCategoriesQuery, options?: CallOptions): Pages<Category<IdOf<Ids>>>;

  /**
   * Add a category.
   *
   * Adds a category and returns it. Names are unique: those that differ only in letter case, white space or invisible characters are the same. Animals can refer to a category before it is added.
   *
   * Needs a key with the scope `write`.
   */
  createCategory(body: NewCategory, options?: OnceOptions): Promise<Result<Category<IdOf<Ids>>>>;

  /**
   * Get a category.
   *
   * Returns the category with the given identifier.
   *
   * Needs a key with the scope `read`.
   */
  getCategory(categoryId: Int64, options?: CallOptions): Promise<Result<Category<IdOf<Ids>>>>;

  /**
   * Change a category.
   *
   * Changes the fields in the body (JSON Merge Patch, RFC 7396) and returns the category. Its animals do not change. With `If-Match`, the change succeeds only if the category is still the version that you read.
   *
   * Needs a key with the scope `write`.
   */
  updateCategory(
    categoryId: Int64,
    body: CategoryPatch,
    options?: OnceOptions & IfMatch,
  ): Promise<Result<Category<IdOf<Ids>>>>;

  /**
   * Delete a category.
   *
   * Deletes an empty category. With `moveTo`, its animals move to that category first, up to 1,000 at a time: after a 503, some may have moved, and the same request continues. The identifier is never assigned again. With `If-Match`, the deletion succeeds only if the category is still the version that you read. A repeated request returns 404.
   *
   * Needs a key with the scope `write`.
   */
  deleteCategory(categoryId: Int64, query?: DeleteCategoryQuery, options?: CallOptions & IfMatch): Promise<NoContent>;

  /**
   * List all orders.
   *
   * Returns orders one page at a time. Orders are never deleted. A page can hold fewer than `limit` orders, or none, although more follow: continue while there is a `Link`.
   *
   * Needs a key with the scope `read`.
   */
  listStoreOrders(query?: ListStoreOrdersQuery, options?: CallOptions): Pages<StoreOrder<IdOf<Ids>>>;

  /**
   * Place an order.
   *
   * Reserves an available animal. Its status is `pending` until the order is confirmed, cancelled or expires. If several clients order the same animal at once, exactly one succeeds. While the order is open, only the order changes the animal's status, and the animal cannot be deleted.
   *
   * With `confirm`, the order sells the animal in the same transaction.
   *
   * Needs a key with the scope `write`.
   */
  placeStoreOrder<const Body extends NewStoreOrder>(
    body: Body,
    options?: OnceOptions,
  ): Promise<Result<Body extends { readonly confirm: true } ? ConfirmedStoreOrder<IdOf<Ids>> : StoreOrder<IdOf<Ids>>>>;

  /**
   * Get an order.
   *
   * Returns the order with the given identifier. Within a second after its reservation ends, an order becomes `expired` and its animal available.
   *
   * Needs a key with the scope `read`.
   */
  getStoreOrder(orderId: Int64, options?: CallOptions): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Change an order.
   *
   * Changes the reference, price or metadata of an order in any status, or the end of its reservation while it is `placed` (JSON Merge Patch, RFC 7396), and returns the order. A price that is changed after the sale corrects the figures of the day of the sale. With `If-Match`, the change succeeds only if the order is still the version that you read.
   *
   * Needs a key with the scope `write`.
   */
  updateStoreOrder(
    orderId: Int64,
    body: StoreOrderPatch,
    options?: OnceOptions & IfMatch,
  ): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Confirm an order.
   *
   * Sells the animal: its status becomes `sold`. The order keeps who sold it, and the animal's name and category. Fails once the reservation has ended.
   *
   * Needs a key with the scope `write`.
   */
  confirmStoreOrder(
    orderId: Int64,
    body?: StoreOrderConfirmation,
    options?: OnceOptions & IfMatch,
  ): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Cancel an order.
   *
   * Releases the animal: its status becomes `available`.
   *
   * Needs a key with the scope `write`.
   */
  cancelStoreOrder(orderId: Int64, options?: OnceOptions & IfMatch): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Return the animal of an order.
   *
   * Takes back the animal of a confirmed order: its status becomes `available`.
   *
   * Needs a key with the scope `write`.
   */
  returnStoreOrder(orderId: Int64, options?: OnceOptions & IfMatch): Promise<Result<StoreOrder<IdOf<Ids>>>>;

  /**
   * Get sales (beta).
   *
   * Returns what was sold in a span of time, by day, by hour within one day, by seller and category. A sale is a confirmed order; a status set to `sold` by hand is none. Sales that are confirmed meanwhile may be missing. At most 366 days, with at most 100,000 sales and as many returns.
   *
   * Needs a key with the scope `read`.
   */
  getSales(query?: GetSalesQuery, options?: CallOptions): Promise<Result<Sales<IdOf<Ids>>>>;

  /**
   * Get the sandbox (experimental).
   *
   * Returns the contents of the sandbox, and what waits in it.
   *
   * Needs a key with the scope `read`.
   */
  getSandbox(options?: CallOptions): Promise<Result<Sandbox>>;

  /**
   * Fast-forward the sandbox (experimental).
   *
   * Brings all that waits in the sandbox nearer: see `SandboxWaitingKind`. Reservations that are then due, up to 10,000, have ended before the response. Webhooks that are then due are sent right after it. No clock changes: events have the real time, and limits, bans and the end of an API key stay. An order shows its old `expiresAt` until it expires.
   *
   * Needs a key with the scope `write`.
   */
  fastForwardSandbox(body: FastForward, options?: OnceOptions): Promise<Result<Sandbox>>;

  /**
   * Reset the sandbox (experimental).
   *
   * Deletes everything in the sandbox, including events, request records, webhook deliveries and stored responses. Ids start at 1 again, and old cursors are rejected. Keys, webhook endpoints, limits, usage and bans stay.
   *
   * Needs a key with the scope `write`.
   */
  resetSandbox(body: SandboxReset, options?: OnceOptions): Promise<Result<Sandbox>>;

  /**
   * Get the figures of the shop (beta).
   *
   * Returns the settings, the counts of animals, open orders, and today's changes.
   *
   * Needs a key with the scope `read`.
   */
  getShop(options?: CallOptions): Promise<Result<ShopSummary<IdOf<Ids>>>>;

  /**
   * Change the settings of the shop (beta).
   *
   * Changes the time zone, whose days figures and sales have, or the currency (JSON Merge Patch, RFC 7396). Nothing that is stored changes with them. In another time zone, today is counted again, from its last 10,000 changes.
   *
   * Needs a key with the scope `admin`.
   */
  updateShop(body: ShopPatch, options?: OnceOptions): Promise<Result<ShopSummary<IdOf<Ids>>>>;

  /**
   * Get the calling key.
   *
   * Returns the scopes of the calling key, the current limits of its shop, and how close a ban is or when it ends.
   *
   * Any valid key may use it.
   *
   * Costs no quota.
   */
  getCurrentKey(options?: CallOptions): Promise<Result<CurrentKey>>;

  /**
   * List the account's keys.
   *
   * Returns the keys of your account, oldest first, including expired and revoked ones, of which the oldest are eventually deleted. A banned key has a `ban`. A test key cannot see live keys.
   *
   * Needs a key with the scope `admin`.
   */
  listKeys(query?: ListKeysQuery, options?: CallOptions): Pages<ListedApiKey>;

  /**
   * Create a key.
   *
   * Creates a key for your account and shows it once. The key cannot have a scope that the calling key lacks, and cannot expire later: if the calling key expires, send an `expiresIn`. If it has a `limitPerMinute`, send one that is no higher. A test key can create test keys only. An account can have 100 valid keys of each mode.
   *
   * Needs a key with the scope `admin`.
   */
  createKey(body: NewApiKey, options?: OnceOptions): Promise<Result<IssuedApiKey>>;

  /**
   * Change a key.
   *
   * Changes the limit of a key of your account (JSON Merge Patch, RFC 7396). A key that has one cannot raise or remove limits above its own.
   *
   * Needs a key with the scope `admin`.
   */
  updateKey(keyId: string, body: ApiKeyPatch, options?: OnceOptions): Promise<Result<ApiKey>>;

  /**
   * Replace a key.
   *
   * Creates a key with the name, mode, scopes, limit and expiry of an old one and shows it once. The old key stays valid for `overlap` seconds. The new key cannot expire later than the calling key. A key can replace itself: send an `Idempotency-Key`, so that you can repeat the request if its response is lost.
   *
   * Needs a key with the scope `admin`.
   */
  rotateKey(keyId: string, query?: RotateKeyQuery, options?: OnceOptions): Promise<Result<ReplacingApiKey>>;

  /**
   * Revoke a key.
   *
   * Revokes a key of your account at once and permanently. The key stays in the list, so a repeated request succeeds. An `admin` key can be revoked only if another one of its mode is valid for as long.
   *
   * Needs a key with the scope `admin`.
   */
  revokeKey(keyId: string, options?: CallOptions): Promise<NoContent>;

  /**
   * Get the shop's usage.
   *
   * Returns the number of requests of all keys of the shop, by operation and response status, newest first, one page at a time. Empty intervals, requests without a valid key, and operations that cost no quota are left out. If the service is killed, the last seconds may be missing.
   *
   * Needs a key with the scope `read`.
   *
   * Costs no quota.
   */
  getUsage(query?: GetUsageQuery, options?: CallOptions): Pages<UsageInterval>;

  /**
   * List recent changes and failures (beta).
   *
   * Returns failed requests and all POST, PATCH and DELETE requests of the shop, newest first. They are stored for 7 days, up to 10,000 per shop and 10 per second and key. A record appears within a second. Bodies, queries and the text of keys are not recorded.
   *
   * Needs a key with the scope `read`.
   *
   * Costs no quota.
   */
  listRequests(query?: ListRequestsQuery, options?: CallOptions): Pages<RequestRecord>;

  /**
   * Explain a request (beta).
   *
   * Returns the record of a request that failed, or of any POST, PATCH or DELETE, with an explanation and advice. Those with a revoked or expired key are in its shop. Others without a valid key are in none, so only the operator sees them.
   *
   * Needs a key with the scope `read`.
   *
   * Costs no quota.
   */
  getRequest(requestId: string, options?: CallOptions): Promise<Result<RequestRecord>>;

  /**
   * List events.
   *
   * Returns the changes of the shop, oldest first, one page at a time. To follow them, send the `id` of the last event you have seen as `after`. `petId` returns the history of an animal.
   *
   * With `type` or `orderId`, a page can hold fewer than `limit` events, or none, although more follow: continue while there is a `Link`.
   *
   * Needs a key with the scope `read`.
   */
  listEvents<Type extends EventType = EventType>(
    query?: ListEventsQuery & { readonly type?: readonly Type[] | undefined },
    options?: CallOptions,
  ): Pages<Extract<Event<IdOf<Ids>>, { readonly type: Type }>>;

  /**
   * Get an event.
   *
   * Returns one change of the shop.
   *
   * Needs a key with the scope `read`.
   */
  getEvent(eventId: Int64, options?: CallOptions): Promise<Result<Event<IdOf<Ids>>>>;

  /**
   * Follow events.
   *
   * Sends the changes of the shop after `Last-Event-ID` or `after`, then new ones as they happen. Without either, it sends only new ones or, with `since`, those since then. The stream ends after at most an hour, but not at `until`. Reconnect with the last `id` to continue without missing or repeating an event. Each connection costs one request.
   *
   * Needs a key with the scope `read`.
   */
  streamEvents<Type extends EventType = EventType>(
    query?: StreamEventsQuery & { readonly type?: readonly Type[] | undefined },
    options?: CallOptions,
  ): AsyncGenerator<Extract<Event<IdOf<Ids>>, { readonly type: Type }>, never, void>;

  /**
   * List webhook endpoints (beta).
   *
   * Returns all endpoints of the shop, oldest first. There are at most 20.
   *
   * Needs a key with the scope `admin`.
   */
  listWebhookEndpoints(options?: CallOptions): Promise<Result<WebhookEndpoints<IdOf<Ids>>>>;

  /**
   * Create a webhook endpoint (beta).
   *
   * Sends new events of the shop to the URL, each at least once, usually in order. A failed delivery delays no other, and is repeated up to nine times over three days. The response shows the secret once. If the calling key expires, the endpoint is disabled with it, unless another key confirms it: `PATCH` with `expiresAt` null.
   *
   * Needs a key with the scopes `admin` and `read`.
   */
  createWebhookEndpoint(
    body: NewWebhookEndpoint,
    options?: OnceOptions,
  ): Promise<Result<WebhookEndpointWithSecret<IdOf<Ids>>>>;

  /**
   * Get a webhook endpoint (beta).
   *
   * Returns the endpoint with the given identifier.
   *
   * Needs a key with the scope `admin`.
   */
  getWebhookEndpoint(endpointId: string, options?: CallOptions): Promise<Result<WebhookEndpoint<IdOf<Ids>>>>;

  /**
   * Change a webhook endpoint (beta).
   *
   * Changes the fields in the body (JSON Merge Patch, RFC 7396). If the URL changes, messages that wait for a retry are sent at once, and the endpoint expires with the calling key, if that expires.
   *
   * Needs a key with the scopes `admin` and `read`.
   */
  updateWebhookEndpoint(
    endpointId: string,
    body: WebhookEndpointPatch,
    options?: OnceOptions,
  ): Promise<Result<WebhookEndpoint<IdOf<Ids>>>>;

  /**
   * Delete a webhook endpoint (beta).
   *
   * Deletes the endpoint and its deliveries. Nothing more is sent to it.
   *
   * Needs a key with the scope `admin`.
   */
  deleteWebhookEndpoint(endpointId: string, options?: CallOptions): Promise<NoContent>;

  /**
   * Replace the secret of an endpoint (beta).
   *
   * Creates a new secret and shows it once. Messages are also signed with each secret that was replaced in the last 24 hours.
   *
   * Needs a key with the scope `admin`.
   */
  rotateWebhookSecret(endpointId: string, options?: OnceOptions): Promise<Result<WebhookEndpointWithSecret<IdOf<Ids>>>>;

  /**
   * Send a test message (beta).
   *
   * Sends one message of the type `webhook_endpoint.test` within a second, even if the endpoint is not enabled. `listWebhookDeliveries` shows the result.
   *
   * Needs a key with the scope `admin`.
   */
  testWebhookEndpoint(endpointId: string, options?: OnceOptions): Promise<NoContent>;

  /**
   * Send events again (beta).
   *
   * Sends again the events from `from` to `to` that have the types of the endpoint, or the message of one delivery that is no test. They keep their `webhook-id`, can arrive in any order, and are retried as usual. They wait while the endpoint is not enabled.
   *
   * Needs a key with the scopes `admin` and `read`.
   */
  redeliverWebhooks(
    endpointId: string,
    body: NewWebhookRedelivery,
    options?: OnceOptions,
  ): Promise<Result<WebhookRedelivery<IdOf<Ids>>>>;

  /**
   * List deliveries (beta).
   *
   * Returns the deliveries of the endpoint, newest first, one page at a time. The last 1,000 are kept for up to 7 days.
   *
   * Needs a key with the scope `admin`.
   */
  listWebhookDeliveries(
    endpointId: string,
    query?: ListWebhookDeliveriesQuery,
    options?: CallOptions,
  ): Pages<WebhookDelivery<IdOf<Ids>>>;

  /**
   * Get a delivery (beta).
   *
   * Returns one delivery, with the start of the response.
   *
   * Needs a key with the scope `admin`.
   */
  getWebhookDelivery(
    endpointId: string,
    deliveryId: Int64,
    options?: CallOptions,
  ): Promise<Result<WebhookDelivery<IdOf<Ids>>>>;
}
