// Generated from client/src by `npm run derive`.

import type { WebhookMessage } from "./operations.js";
/** The webhook could not be verified and must not be trusted. */
export declare class WebhookVerificationError extends Error {
    readonly name = "WebhookVerificationError";
}
export interface VerifyOptions {
    /** How far the timestamp may differ from the current time, in seconds. Default: 300. */
    readonly tolerance?: number | undefined;
    /** The current time in Unix milliseconds. Default: the system clock. */
    readonly now?: number | undefined;
}
/**
 * Verifies a webhook (Standard Webhooks 1.0.0) and returns its parsed body, of which `data` is the event. `body` must be the raw body. `keys` are
 * secrets (`whsec_…`) or public keys (`whpk_…`) of the endpoint, one of which must match. Throws
 * `WebhookVerificationError`.
 */
export declare function verifyWebhook(body: string | Uint8Array<ArrayBuffer>, headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>, keys: string | readonly string[], { tolerance, now }?: VerifyOptions): Promise<WebhookMessage>;
