import { FIRST_BAN, GRACE, LONGEST_BAN } from "../conduct.ts";
import { DAY, MINUTE } from "../windows.ts";

/**
 * The decision on one request, in one step on the server: the windows of the account (or address) in
 * the first key, the conduct of the API key in the second one, which addresses do not have. It is the
 * same decision as that of `Windows` and `Conduct`, with the server's clock, which all processes share.
 *
 * Arguments: requests a minute, requests a day, strikes until a ban, what to do, and the time in unix
 * milliseconds, or nothing for the server's own. There is to do:
 *
 * - `count` a request, or only `look`: gives verdict (0 admitted, 1 limited, 2 banned), limit,
 *   remaining, reset in unix seconds and retry-after in seconds.
 * - `stand`: gives requests used and reset of the minute and of the day, strikes, the end of the ban
 *   in unix seconds (0 for none) and the level of the next one.
 */
export const limitsScript = `
local ceil, floor, max, min = math.ceil, math.floor, math.max, math.min
local MINUTE, DAY = ${MINUTE}, ${DAY}
local perMinute, perDay, strikesAllowed, act = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local now = tonumber(ARGV[5])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end

local function banLength(level) return min(${LONGEST_BAN}, ${FIRST_BAN} * 2 ^ (level - 1)) end

-- Few keys have a conduct. A server whose clock was set back must lengthen no ban and no minute.
local deniedSince, toldUntil, strikes, banEnds, banLevel = 0, 0, 0, 0, 0
if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 1 then
  local kept = redis.call('HMGET', KEYS[2], 'since', 'told', 'strikes', 'ends', 'level')
  deniedSince, toldUntil, strikes = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
  banEnds, banLevel = tonumber(kept[4]) or 0, tonumber(kept[5]) or 0
  if banLevel > 0 then banEnds = min(banEnds, now + banLength(banLevel)) end
  if now < banEnds and act ~= 'stand' then
    return {2, perMinute, 0, ceil(banEnds / 1000), max(1, ceil((banEnds - now) / 1000))}
  end
end

local kept = redis.call('HMGET', KEYS[1], 'ends', 'minute', 'date', 'day')
local minuteEnds, minuteUsed = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0
local day, dayUsed = tonumber(kept[3]) or 0, tonumber(kept[4]) or 0
local isOldMinute, isOldDay = true, true
if now >= minuteEnds or minuteUsed == 0 then
  minuteEnds, minuteUsed, isOldMinute = now + MINUTE, 0, false
elseif minuteEnds > now + MINUTE then
  minuteEnds, isOldMinute = now + MINUTE, false
end
local today, otherDay, otherDayUsed = floor(now / DAY), 0, 0
if today ~= day then
  -- Another day is kept too: a clock that goes back over midnight finds its count again.
  local other = redis.call('HMGET', KEYS[1], 'otherDate', 'otherDay')
  otherDay, otherDayUsed = tonumber(other[1]) or 0, tonumber(other[2]) or 0
  local comesBack = today == otherDay
  local used = comesBack and otherDayUsed or 0
  if comesBack or math.abs(today - day) <= math.abs(today - otherDay) then otherDay, otherDayUsed = day, dayUsed end
  day, dayUsed, isOldDay = today, used, false
end
local endOfDay = (today + 1) * DAY

local isAdmitted = act == 'count' and minuteUsed < perMinute and dayUsed < perDay
if isAdmitted then
  minuteUsed, dayUsed = minuteUsed + 1, dayUsed + 1
  if isOldMinute and isOldDay then
    -- Numbers would be made texts on their way, which takes longer than to count twice.
    redis.call('HINCRBY', KEYS[1], 'minute', '1')
    redis.call('HINCRBY', KEYS[1], 'day', '1')
  else
    redis.call('HSET', KEYS[1], 'ends', minuteEnds, 'minute', minuteUsed, 'date', day, 'day', dayUsed)
    if not isOldDay then redis.call('HSET', KEYS[1], 'otherDate', otherDay, 'otherDay', otherDayUsed) end
    redis.call('PEXPIRE', KEYS[1], 2 * DAY)
  end
  if toldUntil > 0 then redis.call('HSET', KEYS[2], 'told', 0) end -- its next 429 is again a first one
end

if isAdmitted or act == 'look' then
  local minuteLeft, dayLeft = max(0, perMinute - minuteUsed), max(0, perDay - dayUsed)
  if minuteLeft < dayLeft then return {0, perMinute, minuteLeft, ceil(minuteEnds / 1000), 0} end
  return {0, perDay, dayLeft, endOfDay / 1000, 0}
end
if act == 'stand' then
  local nextLevel = now - banEnds >= DAY and 1 or banLevel + 1
  return {minuteUsed, ceil(minuteEnds / 1000), dayUsed, endOfDay / 1000,
    now < toldUntil and strikes or 0, now < banEnds and ceil(banEnds / 1000) or 0, nextLevel}
end

local ofMinute = {1, perMinute, 0, ceil(minuteEnds / 1000), max(1, ceil((minuteEnds - now) / 1000))}
local ofDay = {1, perDay, 0, endOfDay / 1000, max(1, ceil((endOfDay - now) / 1000))}
local denial = ofDay
if dayUsed < perDay or (minuteUsed >= perMinute and ofMinute[5] > ofDay[5]) then denial = ofMinute end
if not KEYS[2] then return denial end

local till = now + denial[5] * 1000
if now >= toldUntil then
  deniedSince, toldUntil, strikes = now, till, 0
else
  toldUntil = min(toldUntil, till)
  if now - deniedSince >= ${GRACE} then strikes = strikes + 1 end
end
if strikes >= strikesAllowed then
  if now - banEnds >= DAY then banLevel = 1 else banLevel = banLevel + 1 end
  banEnds = now + banLength(banLevel)
  toldUntil = 0
  denial = {2, perMinute, 0, ceil(banEnds / 1000), max(1, ceil((banEnds - now) / 1000))}
end
redis.call('HSET', KEYS[2], 'since', deniedSince, 'told', toldUntil, 'strikes', strikes, 'ends', banEnds, 'level', banLevel)
redis.call('PEXPIRE', KEYS[2], max(toldUntil, banEnds + DAY, now + DAY) - now)
return denial
`;

/** How long a process counts as running after it was heard of last, in milliseconds. */
export const ALIVE = 3_000;

/** Notes that the process `ARGV[1]` runs, and gives how many do. */
export const presenceScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${ALIVE})
redis.call('PEXPIRE', KEYS[1], ${ALIVE})
return redis.call('ZCARD', KEYS[1])
`;
