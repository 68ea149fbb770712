// Loaded into a worker before its program: SIGUSR2 makes each turn of its event loop take a second from then on.
process.on("SIGUSR2", () => {
  setInterval(() => {
    Bun.sleepSync(1_000);
    console.log('{"event":"slow turn"}');
  }, 1);
});
