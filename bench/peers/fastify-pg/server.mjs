// The requested number of processes behind one port: Node's own cluster, whose first process accepts
// the connections and hands them to the others in turn. One process alone needs none.
import cluster from "node:cluster";

const processes = Number(process.env.PROCESSES);

if (processes > 1 && cluster.isPrimary) {
  for (let number = 0; number < processes; number++) cluster.fork();
  process.once("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers)) worker.process.kill("SIGTERM");
    cluster.disconnect(() => process.exit(0));
  });
} else {
  await import("./app.mjs");
}
