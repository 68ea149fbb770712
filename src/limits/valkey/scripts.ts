import { createHash } from "node:crypto";
import { DAY_MS, MINUTE_MS } from "../../timing/clock.ts";
import { GRACE, SANDBOX_MINUTES } from "../windows.ts";

/** A Lua script, with the SHA-1 digest by which servers cache it. */
export interface Script {
  readonly lua: string;
  readonly digest: string;
}

export function script(lua: string): Script {
  return { lua, digest: createHash("sha1").update(lua).digest("hex") };
}

/**
 * What the other scripts begin with. Their first argument is the time in Unix milliseconds; empty for the server's clock.
 *
 * Each of their keys is a hash, the record of a shop, an address or a separate quota. Its fields are `minute` and `day`
 * (counts), `minuteEnds` and `dayEnds` (Unix milliseconds), `real` (count and end of the real minute), and by API key the
 * denial that began last: when it began, when it ends, and the strikes in it.
 */
const begin = `
local call, ceil, floor, max, min, match = redis.call, math.ceil, math.floor, math.max, math.min, string.match
local MINUTE, DAY = ${MINUTE_MS}, ${DAY_MS}
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local function runs(ends, length)
  return ends and now < ends and ends <= now + length
end
local function readReal(text)
  local used, ends = match(text or '', '^(%d+) (%d+)$')
  used, ends = tonumber(used), tonumber(ends)
  if runs(ends, MINUTE) then return used, ends end
end
local function readDenial(text)
  local since, ends, strikes = match(text or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(since), tonumber(ends), tonumber(strikes)
end
`;

/**
 * Decides on requests and counts them, by the rules of `Windows`. The further arguments are one string for each key of
 * the script: the number of requests (0 counts nothing), the limits per minute and per day, the strikes that lead to a
 * ban, and the API key (empty if strikes do not count). So is the reply: the numbers of a decision. They are strings,
 * because numbers above 2^53 would be rounded in transit.
 */
export const decide = script(`${begin}
local function secondsUntil(ends)
  return max(1, ceil((ends - now) / 1000))
end

local function decide(record, question)
  local n, perMinute, perDay, strikesForBan, key = match(question, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  n, perMinute, perDay = tonumber(n), tonumber(perMinute), tonumber(perDay)
  local stored = call('HMGET', record, 'minute', 'minuteEnds', 'day', 'dayEnds', 'real', key)
  local minute, minuteEnds = tonumber(stored[1]), tonumber(stored[2])
  local day, dayEnds = tonumber(stored[3]), tonumber(stored[4])
  local isNewMinute, isNewDay = not runs(minuteEnds, MINUTE), not runs(dayEnds, DAY)
  if isNewMinute then minute, minuteEnds = 0, now + MINUTE end
  if isNewDay then day, dayEnds = 0, (floor(now / DAY) + 1) * DAY end
  local room, perRealMinute = min(perMinute - minute, perDay - day), ${SANDBOX_MINUTES} * perMinute
  local real, realEnds
  if stored[5] then
    real, realEnds = readReal(stored[5])
    if real then room = min(room, perRealMinute - real) end
  end

  local admitted = max(0, min(n, room))
  minute, day = minute + admitted, day + admitted
  if real then real = real + admitted end
  if n > 0 and isNewDay then
    call('UNLINK', record) -- a day starts without strikes
    stored[6] = false
    call('HSET', record, 'day', day, 'dayEnds', dayEnds)
    if minute > 0 then call('HSET', record, 'minute', minute, 'minuteEnds', minuteEnds) end
    call('PEXPIRE', record, dayEnds - now + MINUTE)
  elseif admitted > 0 then
    -- Converting numbers to strings takes longer than HINCRBY.
    call('HINCRBY', record, 'day', admitted)
    if isNewMinute then call('HSET', record, 'minute', minute, 'minuteEnds', minuteEnds)
    else call('HINCRBY', record, 'minute', admitted) end
  end
  if real and n > 0 then call('HSET', record, 'real', string.format('%d %d', real, realEnds)) end

  local lastStrike, strikes = 0, 0
  if stored[6] or (admitted < n and key ~= '') then
    local since, ends, count = readDenial(stored[6])
    if not runs(ends, DAY) then since = nil end
    if admitted < n then
      local retry = 0
      if day >= perDay then retry = secondsUntil(dayEnds) end
      if minute >= perMinute then retry = max(retry, secondsUntil(minuteEnds)) end
      if real and real >= perRealMinute then retry = max(retry, secondsUntil(realEnds)) end
      local newEnds = now + retry * 1000
      if not since or admitted > 0 then
        since, ends, count = now, newEnds, 0
      else
        ends = min(ends, newEnds)
        if now - since >= ${GRACE} then
          local untilBan = max(1, tonumber(strikesForBan) - count)
          count = count + n
          if n >= untilBan then
            lastStrike, since = untilBan, nil
            if n > untilBan then since, ends, count = now, newEnds, 0 end
          end
        end
      end
    elseif n > 0 then
      since = nil
    end
    local denial = since and string.format('%d %d %d', since, ends, count)
    if not denial then
      if n > 0 and stored[6] then call('HDEL', record, key) end
    else
      strikes = count
      if denial ~= stored[6] then call('HSET', record, key, denial) end
    end
  end

  local reply = string.format('%d %d %d %d %d %d %d %d', admitted, lastStrike, strikes, now, minute, minuteEnds, day, dayEnds)
  if real then return string.format('%s %d %d', reply, real, realEnds) end
  return reply
end

local replies = {}
for i = 1, #KEYS do replies[i] = decide(KEYS[i], ARGV[i + 1]) end
return replies
`);

/**
 * Adds what a process admitted without asking. The further arguments are one string for each key of the script: the
 * counts of the minute and of the day, each with the rest of the process's own window in milliseconds, which begins here
 * if none runs.
 */
export const add = script(`${begin}
local function addTo(record, field, count, rest, length)
  local endsField = field .. 'Ends'
  if runs(tonumber(call('HGET', record, endsField)), length) then
    call('HINCRBY', record, field, count)
  else
    call('HSET', record, field, count, endsField, now + min(rest, length))
  end
end
for i = 1, #KEYS do
  local minute, minuteRest, day, dayRest = match(ARGV[i + 1], '^(%S+) (%S+) (%S+) (%S+)$')
  if tonumber(minute) > 0 then addTo(KEYS[i], 'minute', minute, tonumber(minuteRest), MINUTE) end
  if tonumber(day) > 0 then addTo(KEYS[i], 'day', day, tonumber(dayRest), DAY) end
  call('PEXPIRE', KEYS[i], DAY + MINUTE)
end
`);

/** `Windows.bringNearer` for a record. The second argument is the number of milliseconds. */
export const bringNearer = script(`${begin}
local record, by = KEYS[1], tonumber(ARGV[2])
local fields = call('HGETALL', record)
local stored = {}
for i = 1, #fields, 2 do stored[fields[i]] = fields[i + 1] end
local minuteEnds = tonumber(stored.minuteEnds)
if runs(minuteEnds, MINUTE) and not readReal(stored.real) then
  call('HSET', record, 'real', string.format('%d %d', stored.minute, minuteEnds))
end
for field, value in pairs(stored) do
  local since, ends, strikes = readDenial(value)
  if since then call('HSET', record, field, string.format('%d %d %d', since - by, ends - by, strikes))
  elseif match(field, 'Ends$') then call('HINCRBY', record, field, -by) end
end
`);

/** Forgets records. */
export const forget = script("return redis.call('UNLINK', unpack(KEYS))");

/** For how long a process counts as running after its last report, in milliseconds. */
const PRESENCE = 3_000;

/** Notes that the process `ARGV[2]` runs and returns how many do. */
export const presence = script(`${begin}
call('ZADD', KEYS[1], now, ARGV[2])
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${PRESENCE})
call('PEXPIRE', KEYS[1], ${PRESENCE})
return call('ZCARD', KEYS[1])
`);
