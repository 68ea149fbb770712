import type { ReadableStreamDefaultReader } from "node:stream/web";
import { type Failure, payloadTooLarge, requestTimeout } from "../../contract/errors.ts";
import { bodyLimits } from "../../contract/requests.ts";
import type { Clock } from "../../timing/clock.ts";
import { type MaybePromise, whenReady } from "../../timing/maybe-promise.ts";
import { Deadlines } from "../deadlines.ts";
import { type BodyLength, bodyLength } from "./request-headers.ts";

/** The largest body that is drained, in bytes. */
export const DRAIN_LIMIT = 16 * 1024 * 1024;
/** The longest time that a body is drained, in milliseconds. */
export const DRAIN_TIMEOUT = 5_000;
/** The maximum number of bodies that a process drains at the same time. */
export const MAX_DRAINS = 64;

/**
 * Reads and discards the bodies of refused requests. Most clients do not read the response while they send the body.
 * If the connection is closed before that, they report a network error instead of the reason.
 */
export class BodyDrains {
  readonly #deadlines: Deadlines<boolean>;

  constructor(clock: Clock) {
    this.#deadlines = new Deadlines(clock, DRAIN_TIMEOUT);
  }

  /** Bodies that are being drained. */
  get size(): number {
    return this.#deadlines.size;
  }

  /**
   * Drains the body of a request that is refused with `failed`, within the limits above. Returns true if the
   * connection can be reused, and false if the body has not ended or its length is malformed. Never rejects. The
   * runtime drains small bodies with a length itself.
   */
  drain(request: Request, failed: Failure): MaybePromise<boolean> {
    if (failed.error === requestTimeout) return false;
    const isTooLarge = failed.error === payloadTooLarge;
    if (request.bodyUsed && !isTooLarge) return true; // it was read to its end; one that is too large was read in part
    const length = bodyLength(request.headers);
    if (!isTooLarge && typeof length === "number" && length <= bodyLimits.bytes) return true;
    return whenReady(this.#readRest(request.body, length), (isRead) => isRead && length !== "malformed");
  }

  #readRest(body: ReadableStream<Uint8Array> | null, length: BodyLength): MaybePromise<boolean> {
    // The runtime does not provide the body of a GET.
    if (!body || (typeof length === "number" && length > DRAIN_LIMIT) || this.size >= MAX_DRAINS) return false;
    const reader = body.getReader();
    const pending = this.#deadlines.register(() => {
      void reader.cancel().catch(() => {});
      return false;
    });
    void readToEnd(reader).then((isRead) => this.#deadlines.settle(pending, isRead));
    return pending.result;
  }

  /** Stops draining bodies that take too long. Must be called regularly. */
  sweep(): void {
    this.#deadlines.sweep();
  }
}

/** True if the body ended before the limit. */
async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<boolean> {
  try {
    for (let length = 0; length <= DRAIN_LIMIT; ) {
      const { done, value } = await reader.read();
      if (done) return true;
      length += value?.length ?? 0;
    }
    await reader.cancel();
  } catch {
    // The client has disconnected, or the drain was stopped.
  }
  return false;
}
