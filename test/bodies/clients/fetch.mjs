// Node's fetch. Arguments: address, key, rounds, sizes. Writes a line for each request: framing, size, status or error.
const [address, key, rounds, ...sizes] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };

for (const size of sizes.map(Number)) {
  const bytes = new Uint8Array(size).fill(32);
  for (let round = 0; round < Number(rounds); round++) {
    for (const framing of ["length", "chunked"]) {
      const body = framing === "length" ? bytes : new Blob([bytes]).stream();
      let outcome;
      try {
        const response = await fetch(address, { method: "POST", headers, body, duplex: "half" });
        outcome = `${response.status} ${(await response.json()).code}`;
      } catch (error) {
        outcome = String(error.cause ?? error);
      }
      console.log(`${framing} ${size} ${outcome}`);
    }
  }
}
