import { DAY_MS } from "../../timing/clock.ts";
import { script } from "./script.ts";

/** Sets the clock of a sandbox, `KEYS[1]`, at least `ARGV[1]` milliseconds ahead of real time. */
export const advance = script(`
local ahead = tonumber(redis.call('HGET', KEYS[1], 'ahead')) or 0
if tonumber(ARGV[1]) > ahead then redis.call('HSET', KEYS[1], 'ahead', ARGV[1]) end
redis.call('PEXPIRE', KEYS[1], ${2 * DAY_MS})
return ''
`);

/** Deletes the hashes of shops or other owners of counts. */
export const forget = script("return redis.call('UNLINK', unpack(KEYS))");

/** How long a process counts as running after its last report, in milliseconds. */
export const PRESENCE_LIFETIME = 3_000;

/** Records that the process `ARGV[1]` runs and returns the number of running processes. */
export const presence = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${PRESENCE_LIFETIME})
redis.call('PEXPIRE', KEYS[1], ${PRESENCE_LIFETIME})
return redis.call('ZCARD', KEYS[1])
`);
