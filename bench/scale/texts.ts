import type { PageTexts } from "../report.ts";

export const scaleTexts: PageTexts = {
  title: "Measured: many processes",
  command: "npm run bench -- --scale",
  aboutMeasuring: `All figures are of one run on one machine; only the
ratios say something about other machines. [scale.md](scale.md) says what follows from them.

**Everything shares the cores of this machine**: the processes of the service, PostgreSQL, Valkey, and \`wrk\` with its one
thread. Nothing is pinned to a core. With two cores there is room for about one process alongside the others, so 2 or 4
processes cannot answer many more requests than 1. How far the service scales on a larger machine is shown by the CPU
time per answer of the service, of PostgreSQL and of Valkey, in microseconds. It is read from \`/proc/PID/stat\` before and after each round, of
all processes together, for PostgreSQL with its background work. It is more than on a machine with cores to spare, where
less is switched and caches are warm. The last table tells how busy the machine was, with others' work too.

Contestants take turns (A B C A B C), so that other work on the machine affects all of them; before the first turn each
is warmed up. In comparisons with Fastify, the others are paused (\`SIGSTOP\`) while one is measured, and each has its own copy
of the store. All share one PostgreSQL server; each has its own part of one Valkey or Redis server. A ratio is computed
within each round, and the median of the rounds is what a target is compared with. Bars are medians, whiskers the least and
the most of the rounds.

\`wrk\` keeps 64 requests on their way, whatever the number of processes. *Valkey calls* are the scripts, or the
\`INCRBY\`, that Valkey ran for an answer: 1 means that limits were counted by all processes together, all the time.
*Passes* tells how often the list of different requests was sent. PostgreSQL syncs each commit (\`fsync\` and
\`synchronous_commit\` are on), has 1 GB of shared buffers, and otherwise has its default settings; Valkey keeps nothing on
disk. Requests are logged in the default form, to \`/dev/null\`.`,
  aboutPeers: `**Fastify** works on a copy of the service's store with the same tables and indexes, with \`pg\` (a pool of 10
connections for each process, prepared statements) and \`@fastify/rate-limit\` with its store for Redis by \`ioredis\`, which
pipelines by itself. Keys are looked up by their digest and remembered for a second. It has schemas, all headers, entity
tags, pages by key and one log line a request. Several processes are Node's own cluster: its first process accepts all
connections. It has one window of limits instead of two, a minute, has no strikes and bans,
and has no rule for when Valkey is unreachable; its \`X-RateLimit-Reset\` is seconds, not a time. It converts the types of a body
instead of refusing it, rounds integers above 2^53, and checks neither the filter of a cursor nor the scopes of a key. It
has no metrics. Its statements have no deadline. Each create writes its event in the same statement.

**Bun.serve with PostgreSQL** shows what the platform alone costs: Bun's HTTP server, the service's driver for PostgreSQL with
as many connections and the same statements, and \`ioredis\`. The reads, the creates and the counts of one turn of the event
loop are one statement or one command each. It sends headers that the service once sent, and has no keys, windows, bans, checks,
logs or metrics. No target refers to it.`,
};
