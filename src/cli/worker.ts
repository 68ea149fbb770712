import { Log } from "../telemetry/log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { UsageError } from "../terminal/command.ts";
import { SupervisorLink } from "../workers/supervisor-link.ts";
import type { ProgramCommand } from "./program-command.ts";
import { runService } from "./run-service.ts";

export const worker: ProgramCommand = {
  name: "worker",
  summary: "Run one of the processes of `serve --workers`, which starts it.",
  example: "worker 1",
  isInternal: true,
  args: ["NUMBER"],
  run: async (given, context) => {
    const metrics = new Metrics();
    const link = SupervisorLink.open(() => metrics.expose());
    if (!link) throw new UsageError("worker is started by serve --workers.");
    const stop = AbortSignal.any([context.stop, link.stop]);
    context.onHangup(() => {}); // meant for the supervisor, but a terminal sends it to all processes
    const number = Number(given.args[0]);
    await runService(
      given,
      { ...context, stop },
      {
        log: new Log(context.config.logLevel, undefined, { worker: number }),
        metrics,
        shared: { metricsOfAll: () => link.metricsOfAll(), inStep: (phase) => link.inStep(phase) },
        listening: ({ base, docs }) => link.ready({ address: base, docs }),
      },
    );
    return { json: undefined, text: "" };
  },
};
