/** It is not shown that the service has sent this. It must not be trusted. */
export declare class WebhookVerificationError extends Error {
    readonly name = "WebhookVerificationError";
}
export interface VerifyOptions {
    /** How far the message's time may be from the present, in seconds. Default: 300. */
    readonly tolerance?: number | undefined;
    /** The present, in unix milliseconds. Default: that of the system. */
    readonly now?: number | undefined;
}
/**
 * Checks that the service has sent a webhook (Standard Webhooks 1.0.0), and returns its body, parsed. `body` must be as it
 * was received. Of the endpoint's secrets (`whsec_…`) or public keys (`whpk_…`) one must fit. Throws
 * `WebhookVerificationError`.
 */
export declare function verifyWebhook(body: string | Uint8Array<ArrayBuffer>, headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>, keys: string | readonly string[], { tolerance, now }?: VerifyOptions): Promise<unknown>;
