import type { StopPhase } from "../http/server.ts";

/** Where a worker listens, as clients see it. */
export interface ListeningAt {
  readonly address: string;
  readonly docs: string;
}

/** Messages from a worker to its supervisor. The answer to a question repeats its number. */
export type FromWorker =
  | { readonly kind: "alive" }
  | { readonly kind: "ready"; readonly at: ListeningAt }
  /** A client requested the metrics of all workers. */
  | { readonly kind: "wants metrics"; readonly question: number }
  /** The worker is stopping and has reached this phase. */
  | { readonly kind: "reached"; readonly question: number; readonly phase: StopPhase }
  | { readonly kind: "own metrics"; readonly question: number; readonly text: string };

/** Messages from a supervisor to a worker. */
export type FromSupervisor =
  | { readonly kind: "stop" }
  /** All stopping workers have reached this phase. */
  | { readonly kind: "go on"; readonly question: number }
  | { readonly kind: "expose metrics"; readonly question: number }
  | { readonly kind: "metrics of all"; readonly question: number; readonly text: string };
