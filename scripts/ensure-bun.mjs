// Makes sure that node_modules has a working Bun. npm links only a placeholder where install scripts
// are switched off; Bun's own install script then puts the binary in place, without the network.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bun = `${root}node_modules/.bin/bun`;

function works() {
  return existsSync(bun) && spawnSync(bun, ["--version"], { stdio: "ignore" }).status === 0;
}

if (!works()) {
  const installer = `${root}node_modules/bun/install.js`;
  if (existsSync(installer))
    spawnSync(process.execPath, [installer], { cwd: `${root}node_modules/bun`, stdio: "inherit" });
  if (!works()) {
    console.error("Bun is not installed. Run: npm ci");
    process.exit(1);
  }
}
