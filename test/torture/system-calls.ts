/** One system call of a process, from its trace. */
export interface SystemCall {
  readonly name: string;
  /** What stands between the parentheses, as strace writes it: texts are escaped. */
  readonly args: string;
  readonly result: string;
  /** Its beginning and end as positions in the trace. Two calls of two threads can overlap. */
  readonly begin: number;
  readonly end: number;
}

const whole = /^(?<thread>\d+) +(?<name>\w+)\((?<args>.*)\) += (?<result>.*)$/;
const beginning = /^(?<thread>\d+) +(?<name>\w+)\((?<args>.*) <unfinished \.\.\.>$/;
const rest = /^(?<thread>\d+) +<\.\.\. \w+ resumed>(?<args>.*)\) += (?<result>.*)$/;

/** Reads what `strace -f -o FILE` wrote. Calls that never ended, because a thread was killed, are left out. */
export function readSystemCalls(trace: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, { name: string; args: string; begin: number }>();
  for (const [position, line] of trace.split("\n").entries()) {
    const begun = beginning.exec(line)?.groups;
    if (begun) {
      const { thread = "", name = "", args = "" } = begun;
      unfinished.set(thread, { name, args, begin: position });
      continue;
    }
    const ended = rest.exec(line)?.groups ?? whole.exec(line)?.groups;
    if (!ended) continue; // signals and ends of threads
    const { thread = "", name, args = "", result = "" } = ended;
    const first = unfinished.get(thread);
    if (name !== undefined) calls.push({ name, args, result, begin: position, end: position });
    else if (first) calls.push({ ...first, args: first.args + args, result, end: position });
    if (name === undefined) unfinished.delete(thread);
  }
  return calls;
}
