// Loaded before the service by a test: the wall clock is wrong by this many milliseconds.
const error = Number(process.env["TEST_CLOCK_ERROR"]);
const { now } = Date;
Date.now = () => now() + error;
