import { createHash } from "node:crypto";
import { DAY_MS, MINUTE_MS } from "../../timing/clock.ts";
import { GRACE } from "../windows.ts";

/** A Lua script, with the SHA-1 digest by which servers cache it. */
export type Script = ReturnType<typeof script>;

export function script(lua: string) {
  return { lua, digest: createHash("sha1").update(lua).digest("hex") };
}

/**
 * What the other scripts begin with. Their first argument is the time in Unix milliseconds; empty for the server's clock.
 *
 * Each of their keys is a hash, the record of a shop, an address or a separate quota. It has two fields for each window,
 * such as `day` (its count) and `dayEnds` (Unix milliseconds), and one for each API key: the denial that began last, when
 * it began, when it ends, and the strikes in it.
 */
const begin = `
local call, ceil, floor, max, min = redis.call, math.ceil, math.floor, math.max, math.min
local format, gmatch, match = string.format, string.gmatch, string.match
local MINUTE, DAY = ${MINUTE_MS}, ${DAY_MS}
local now = tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local function runs(ends, length)
  return ends and now < ends and ends <= now + length
end
local function readDenial(text)
  local since, ends, strikes = match(text or '', '^(%d+) (%d+) (%d+)$')
  return tonumber(since), tonumber(ends), tonumber(strikes)
end
`;

/**
 * Decides on requests and counts them, by the rules of `Windows`. The further arguments are one string for each key of
 * the script: the number of requests (0 counts nothing), the strikes that lead to a ban, the API key (empty if strikes do
 * not count), and for each window its field, length and limit; the day comes first. So is the reply: the numbers of a
 * decision. They are strings, because numbers above 2^53 would be rounded in transit.
 */
export const decide = script(`${begin}
-- A day starts without strikes, and with the minutes that run.
local function startDay(record)
  local stored, fields = {}, call('HGETALL', record)
  call('UNLINK', record)
  for i = 1, #fields, 2 do stored[fields[i]] = fields[i + 1] end
  for field, ends in pairs(stored) do
    local name = match(field, '^(.+)Ends$')
    if name and runs(tonumber(ends), MINUTE) then call('HSET', record, name, stored[name], field, ends) end
  end
end

local function decide(record, question)
  local n, strikesForBan, key = match(question, '^(%d+) (%d+) ([^|]*)')
  local fields, windows = {key}, {}
  for field, length, limit in gmatch(question, '|(%S+) (%d+) (%d+)') do
    windows[#windows + 1] = {field = field, length = tonumber(length), limit = tonumber(limit)}
    fields[#fields + 1] = field
    fields[#fields + 1] = field .. 'Ends'
  end
  local stored = call('HMGET', record, unpack(fields))
  n = tonumber(n)
  local admitted = n
  for i, window in ipairs(windows) do
    window.used, window.ends = tonumber(stored[2 * i]), tonumber(stored[2 * i + 1])
    if not runs(window.ends, window.length) then
      window.isNew, window.used, window.ends = true, 0, now + window.length
      if window.length == DAY then window.ends = (floor(now / DAY) + 1) * DAY end
    end
    admitted = max(0, min(admitted, window.limit - window.used))
  end

  local day, denial = windows[1], stored[1]
  local startsDay = n > 0 and day.isNew
  if startsDay then
    startDay(record)
    denial = false
  end
  for _, window in ipairs(windows) do
    window.used = window.used + admitted
    if admitted > 0 or (startsDay and window == day) then
      -- Converting numbers to strings takes longer than HINCRBY.
      if window.isNew then call('HSET', record, window.field, window.used, window.field .. 'Ends', window.ends)
      else call('HINCRBY', record, window.field, admitted) end
    end
  end
  if startsDay then call('PEXPIRE', record, day.ends - now + MINUTE) end

  local lastStrike, strikes = 0, 0
  if denial or (admitted < n and key ~= '') then
    local since, ends, count = readDenial(denial)
    if not runs(ends, DAY) then since = nil end
    if admitted < n then
      local retry = 0
      for _, window in ipairs(windows) do
        if window.used >= window.limit then retry = max(retry, 1, ceil((window.ends - now) / 1000)) end
      end
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
    local new = since and format('%d %d %d', since, ends, count)
    if not new then
      if n > 0 and denial then call('HDEL', record, key) end
    else
      strikes = count
      if new ~= denial then call('HSET', record, key, new) end
    end
  end

  local reply = format('%d %d %d %d', admitted, lastStrike, strikes, now)
  for _, window in ipairs(windows) do reply = format('%s %d %d', reply, window.used, window.ends) end
  return reply
end

local replies = {}
for i = 1, #KEYS do replies[i] = decide(KEYS[i], ARGV[i + 1]) end
return replies
`);

/**
 * Adds what a process admitted without asking. The further arguments are one string for each key of the script: for each
 * window its field, length and count, and the rest of the process's own window in milliseconds, which begins here if none
 * runs.
 */
export const add = script(`${begin}
for i = 1, #KEYS do
  local record = KEYS[i]
  for field, length, count, rest in gmatch(ARGV[i + 1], '|(%S+) (%S+) (%S+) ([^|]+)') do
    if runs(tonumber(call('HGET', record, field .. 'Ends')), tonumber(length)) then
      call('HINCRBY', record, field, count)
    else
      call('HSET', record, field, count, field .. 'Ends', now + min(tonumber(rest), tonumber(length)))
    end
  end
  call('PEXPIRE', record, DAY + MINUTE)
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
