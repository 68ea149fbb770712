// Generated from client/src by `npm run derive`.

import type { WebhookMessage } from "./operations.js";
export { type FakeResponses, fakeFetch } from "./fake-fetch.js";
/** A message as the service would send it. */
export interface SignedWebhook {
    readonly body: string;
    readonly headers: Record<string, string>;
}
/** Signs a message like the service (Standard Webhooks 1.0.0, `v1`), for a test of a receiver with this secret. */
export declare function signWebhook(message: WebhookMessage, secret: string, { now }?: {
    readonly now?: number | undefined;
}): Promise<SignedWebhook>;
/** A service that `startPetstore` has started. */
export interface RunningPetstore {
    readonly baseUrl: string;
    /** A test key with all scopes. Its sandbox has sample animals. */
    readonly key: string;
    /** Ends the service, and resolves when its data is deleted. */
    readonly stop: () => Promise<void>;
}
/**
 * Starts the real service with temporary data on a free port. `command` is the program and its first arguments. The
 * service also ends with this process, in whatever way that ends. Settings in PETSTORE_ variables are for others.
 */
export declare function startPetstore({ command, }?: {
    readonly command?: readonly string[] | undefined;
}): Promise<RunningPetstore>;
