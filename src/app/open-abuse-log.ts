import type { Config } from "../config.ts";
import type { Host } from "../domains/domain.ts";
import { BanEvents } from "../domains/keys/ban-events.ts";
import type { KeyStore } from "../domains/keys/keys.store.ts";
import { strikesForBan } from "../limits/key-bans.ts";
import { AbuseLog } from "../telemetry/abuse-log.ts";
import type { RunningLimiter } from "./open-limiter.ts";

/** Opens the log of bans and invalid keys. Each ban that it logs also becomes an event of its shop. */
export function openAbuseLog({ logAddresses }: Config, host: Host, keys: KeyStore, limits: RunningLimiter): AbuseLog {
  const events = new BanEvents(host, keys);
  const abuse = new AbuseLog({
    ...host,
    showsAddresses: logAddresses,
    strikesForBan,
    onBan: (keyId, endsAt, earlierEnd) => events.add(keyId, endsAt, earlierEnd),
  });
  limits.onLifted((keyId) => {
    abuse.lifted(keyId);
    events.lifted(keyId);
  });
  host.repeat({ name: "log_abuse", by: "each", run: async () => abuse.logEnded() });
  return abuse;
}
