import type { Clock } from "../../timing/clock.ts";
import type { LoadLimits } from "./load-limits.ts";

/**
 * Decides whether the service is overloaded: it is if every turn of the event loop has had more than `maxInFlight`
 * requests for some time. It counts requests and not milliseconds, because a machine that is busy with something else
 * must not look overloaded.
 */
export class OverloadDetector {
  readonly #clock: Clock;
  readonly #limits: LoadLimits;
  readonly #onChange: (isOverloaded: boolean) => void;
  /** The fewest requests in flight in a turn since the last sample; infinite if there was no turn. */
  #fewest = Number.POSITIVE_INFINITY;
  /** Since when more than `maxInFlight` requests have been in flight without a break. */
  #overLimitSince: number | undefined;
  #isOverloaded = false;

  constructor(clock: Clock, limits: LoadLimits, onChange: (isOverloaded: boolean) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onChange = onChange;
  }

  get isOverloaded(): boolean {
    return this.#isOverloaded;
  }

  /** Notes the end of a turn with this many requests in flight. */
  endTurn(inFlight: number): void {
    this.#fewest = Math.min(this.#fewest, inFlight);
  }

  /** Decides again. `inFlight` counts if there was no turn since the last sample. */
  sample(inFlight: number): void {
    const { maxInFlight, overloadAfterMs } = this.#limits;
    const fewest = Number.isFinite(this.#fewest) ? this.#fewest : inFlight;
    this.#fewest = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    if (fewest <= maxInFlight) this.#overLimitSince = undefined;
    else this.#overLimitSince ??= now;
    const isOverloaded = this.#overLimitSince !== undefined && now - this.#overLimitSince >= overloadAfterMs;
    if (isOverloaded === this.#isOverloaded) return;
    this.#isOverloaded = isOverloaded;
    this.#onChange(isOverloaded);
  }
}
