import type { StopPhase } from "../http/server.ts";

/** Where a worker listens, as clients see it. */
export interface ListeningAt {
  readonly address: string;
  readonly docs: string;
}

// After a SIGHUP, a supervisor starts workers of the release that is on disk then. So later releases must keep these
// messages.

/** Messages from a worker to its supervisor. The answer to a question repeats its number. */
export type FromWorker =
  | { readonly kind: "alive" }
  | { readonly kind: "ready"; readonly at: ListeningAt }
  /** A client requested the metrics of all workers. The answer is `metrics of all`. */
  | { readonly kind: "wants metrics"; readonly question: number }
  /** The worker is stopping and has reached this phase, named `stage` since 1.0.0. The answer is `go on`. */
  | { readonly kind: "reached"; readonly question: number; readonly stage: StopPhase }
  /** Answers `expose metrics`. */
  | { readonly kind: "own metrics"; readonly question: number; readonly text: string };

/** Messages from a supervisor to a worker. */
export type FromSupervisor =
  | { readonly kind: "stop" }
  /** Answers `reached`: all stopping workers have reached the phase. */
  | { readonly kind: "go on"; readonly question: number }
  /** Asks for the metrics of this worker. The answer is `own metrics`. */
  | { readonly kind: "expose metrics"; readonly question: number }
  /** Answers `wants metrics`. */
  | { readonly kind: "metrics of all"; readonly question: number; readonly text: string };
