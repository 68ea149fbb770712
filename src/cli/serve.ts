import { App } from "../app.ts";
import { type Command, type Report, type Terminal } from "./command.ts";

const report: Report = { json: { stopped: true }, text: "" };

export const serve: Command = {
  name: "serve",
  summary: "Run the service until it is told to stop (SIGTERM, SIGINT).",
  run: async ({ json }, { config, print, stop }: Terminal) => {
    let fatal: Error | undefined;
    const stopped = Promise.withResolvers<void>();
    const onFatal = (error: Error) => {
      fatal ??= error;
      stopped.resolve();
    };
    let app: App;
    try {
      app = await App.start(config, { onFatal, stop });
    } catch (error) {
      if (stop.aborted) return report; // who told it to stop need not know why it could not start
      throw error;
    }
    /** What is on disk is not known: no request may be served any more, and not even an orderly end may write. */
    const endIfFatal = () => {
      if (!fatal) return;
      app.log.closeAtOnce();
      throw fatal;
    };
    app.log.debug("settings", { ...config, trustedProxies: config.trustedProxies.join(", ") });
    const isNew = config.environment === "development" && !stop.aborted;
    const key = isNew ? await app.firstStart() : undefined;
    if (key) {
      const welcome = { key, address: app.base, docs: app.docs };
      print(json ? JSON.stringify(welcome) : welcomeText(welcome));
    }
    app.log.info("listening", {
      address: app.base,
      docs: app.docs,
      environment: config.environment,
      host: config.host,
      port: app.port, // the address may be a proxy's
      pid: process.pid,
    });
    if (stop.aborted) stopped.resolve();
    stop.addEventListener("abort", () => stopped.resolve());
    await stopped.promise;
    endIfFatal();
    app.log.info("stopping");
    await app.stop();
    endIfFatal();
    return report;
  },
};

function welcomeText({ key, address, docs }: { key: string; address: string; docs: string }): string {
  return `
Petstore is ready at ${address}

It has sample animals and an account on the Business plan. This is its API key; it is not shown again:

  ${key}

Try it:

  curl -H 'Authorization: Bearer ${key}' '${address}/pets?status=available'

Reference page: ${docs}
`;
}
