// Loaded before the service by a test: at SIGUSR2 the event loop has one turn of 200 ms.
const LENGTH = 200;

process.on("SIGUSR2", () => {
  const end = performance.now() + LENGTH;
  while (performance.now() < end);
});
