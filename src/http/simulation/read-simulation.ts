import {
  type ErrorDefinition,
  type Failure,
  type Fault,
  failure,
  invalidInput,
  invalidRequest,
} from "../../contract/errors.ts";
import { faultsOf } from "../../contract/input-faults.ts";
import { suggest } from "../../contract/messages.ts";
import type { Operation } from "../../contract/operation.ts";
import { errorCatalogue, errorsOf } from "../../contract/operation-properties.ts";
import { DISCONNECT, MAX_DELAY, SIMULATE, SIMULATED } from "../../contract/requests.ts";
import { compileValidator } from "../../contract/validators.ts";
import { compileQueryReader } from "../input/read-query.ts";
import type { Admission } from "../interfaces.ts";

/**
 * Closes the connection without a response. No client sees the status: it appears in the log, usage, request records and
 * traces. nginx uses the same one.
 */
export const noResponse: ErrorDefinition = { code: DISCONNECT, status: 444, meaning: "" };

/** The simulation that a request asks for. */
export interface RequestedSimulation {
  /** The value of the header, with `, ` between its items. */
  readonly text: string;
  /** The result to return instead of the operation's. */
  readonly failure: Failure | undefined;
  /** How long to delay the response, in milliseconds. */
  readonly delay: number | undefined;
}

/** A simulation that has started. */
export interface Simulation extends Pick<RequestedSimulation, "text" | "failure"> {
  /** Resolves when the response may be sent; undefined if there is no delay. */
  readonly delay: Promise<void> | undefined;
  /** The values of the limit headers that it pretends. */
  readonly admission: Admission | undefined;
}

/** Reads the header for one operation. */
export type SimulationReader = (header: string) => RequestedSimulation | Failure;

/** An error or `disconnect`, and a delay. */
const MAX_ITEMS = 2;
const delayForm = /^delay=([0-9]{1,5})$/;

/** A query parameter that no operation has. */
const UNKNOWN_QUERY = "simulated=1";

/** The simulations of an operation. They are compiled on first use, because most operations never need them. */
export function simulationReader(operation: Operation, operations: readonly Operation[]): SimulationReader {
  let read: SimulationReader | undefined;
  return (header) => (read ??= compileSimulation(operation, operations))(header);
}

function compileSimulation(operation: Operation, operations: readonly Operation[]): SimulationReader {
  const failures = new Map(errorsOf(operation).map((error) => [error.code, simulatedFailure(operation, error)]));
  failures.set(DISCONNECT, failure(noResponse, ""));
  const own = [...failures.keys()];
  const others = errorCatalogue(operations).map(({ code }) => code);
  const known = [...new Set([...own, ...others])];

  const faultOf = (item: string, isRepeated: boolean): string => {
    if (isRepeated) return `must have at most one error code or ${DISCONNECT}, and at most one delay`;
    if (others.includes(item)) return `names ${item}, which is no error of this operation; it has ${own.join(", ")}`;
    if (item.startsWith("delay")) return `must have the delay as delay=2000, in milliseconds, at most ${MAX_DELAY}`;
    const meant = suggest(item, known);
    const expected = `must hold an error code, ${DISCONNECT} or delay=2000`;
    return meant ? `${expected}; did you mean ${meant}?` : expected;
  };

  return (header) => {
    const items = header.split(",", MAX_ITEMS + 1).map((item) => item.trim());
    let failed: Failure | undefined;
    let delay: number | undefined;
    const messages: string[] = [];
    for (const item of items) {
      const named = failures.get(item);
      const milliseconds = Number(delayForm.exec(item)?.[1]);
      const isDelay = milliseconds <= MAX_DELAY;
      if (named && !failed) failed = named;
      else if (isDelay && delay === undefined) delay = milliseconds;
      else messages.push(faultOf(item, named !== undefined || isDelay));
    }
    return messages.length > 0 ? invalidSimulation(...messages) : { text: items.join(", "), failure: failed, delay };
  };
}

/** The failure of a request whose header cannot be granted, for at least one reason. */
export function invalidSimulation(...messages: readonly string[]): Failure {
  const faults: Fault[] = messages.map((message) => ({ path: `/header/${SIMULATE}`, message }));
  return invalidInput(faults);
}

/** An error of an operation as it would be returned. */
function simulatedFailure(operation: Operation, error: ErrorDefinition): Failure {
  if (error === invalidRequest) {
    const { message, ...rest } = invalidInput(simulatedFaults(operation));
    return { ...rest, message: SIMULATED + message };
  }
  return failure(error, SIMULATED + error.meaning);
}

/** The faults of an empty object as the body. If it is valid, or there is no body, the fault of an unknown parameter. */
function simulatedFaults({ body, query }: Operation): readonly Fault[] {
  if (body && !compileValidator(body.schema).Check({}))
    return faultsOf({}, body.schema, "/body", "field of this operation");
  const result = compileQueryReader(query)(UNKNOWN_QUERY);
  if ("faults" in result) return result.faults;
  throw new TypeError("An operation has a query parameter that is kept for simulated faults.");
}
