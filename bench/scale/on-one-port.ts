// Starts the service several times on one port, because wrk puts load on a single address. Only this bench lets services
// share a port: it preloads this file into each.
if (Bun.main === import.meta.path) {
  const [count, ...program] = process.argv.slice(2);
  const services = Array.from({ length: Number(count) }, () =>
    Bun.spawn([process.execPath, "--preload", import.meta.path, ...program], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
    }),
  );
  process.on("SIGTERM", () => {
    for (const service of services) service.kill();
  });
  await Promise.all(services.map(({ exited }) => exited));
} else {
  const { serve } = Bun;
  Object.assign(Bun, {
    serve: (options: Parameters<typeof serve>[0]) => serve(Object.assign(options, { reusePort: true })),
  });
}
