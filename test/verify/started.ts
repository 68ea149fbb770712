import { freePort } from "../harness/free-port.ts";
import { ManualClock } from "../harness/manual-clock.ts";
import { TestService } from "../harness/service.ts";
import { FaultyProxy } from "./faulty-proxy.ts";

/** The clock of the machine: `verify` compares times with its own. */
class RealClock extends ManualClock {
  override now(): number {
    return Date.now();
  }

  override monotonic(): number {
    return performance.now();
  }
}

/** A service behind a faulty proxy, whose base address it has. */
export async function startBehindProxy() {
  const port = freePort();
  const proxy = await FaultyProxy.start({ target: port });
  const { base } = proxy;
  const settings = { PETSTORE_PORT: `${port}`, PETSTORE_BASE_URL: base, PETSTORE_TRUSTED_PROXIES: "127.0.0.1" };
  const service = await TestService.start({ settings, clock: new RealClock() });
  const stop = async () => {
    proxy.stop();
    await service.stop();
  };
  return { proxy, port, base, service, key: await service.newKey(), stop };
}
