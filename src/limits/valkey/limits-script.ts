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
local MINUTE, DAY = ${MINUTE}, ${DAY}
local GRACE, FIRST_BAN, LONGEST_BAN = ${GRACE}, ${FIRST_BAN}, ${LONGEST_BAN}
local perMinute, perDay, strikesAllowed = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(ARGV[5])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function seconds(milliseconds) return math.ceil(milliseconds / 1000) end
local function atLeastOne(count) return math.max(1, count) end
local function banLength(level) return math.min(LONGEST_BAN, FIRST_BAN * 2 ^ (level - 1)) end
local function read(key, ...)
  local fields = redis.call('HMGET', key, ...)
  for index = 1, #fields do fields[index] = tonumber(fields[index]) or 0 end
  return unpack(fields)
end

-- A server whose clock was set back must lengthen no ban and no minute.
local deniedSince, toldUntil, strikes, banEnds, banLevel = 0, 0, 0, 0, 0
if KEYS[2] then
  deniedSince, toldUntil, strikes, banEnds, banLevel = read(KEYS[2], 'since', 'told', 'strikes', 'ends', 'level')
  if banLevel > 0 then banEnds = math.min(banEnds, now + banLength(banLevel)) end
  if now < banEnds and ARGV[4] ~= 'stand' then
    return {2, perMinute, 0, seconds(banEnds), atLeastOne(seconds(banEnds - now))}
  end
end

local minuteEnds, minuteUsed, day, dayUsed, otherDay, otherDayUsed =
  read(KEYS[1], 'ends', 'minute', 'date', 'day', 'otherDate', 'otherDay')
minuteEnds = math.min(minuteEnds, now + MINUTE)
if now >= minuteEnds then minuteUsed = 0 end
if minuteUsed == 0 then minuteEnds = now + MINUTE end
local today = math.floor(now / DAY)
if today ~= day then
  -- Another day is kept too: a clock that goes back over midnight finds its count again.
  local comesBack = today == otherDay
  local used = comesBack and otherDayUsed or 0
  if comesBack or math.abs(today - day) <= math.abs(today - otherDay) then otherDay, otherDayUsed = day, dayUsed end
  day, dayUsed = today, used
end
local endOfDay = (today + 1) * DAY

local function standing()
  local minuteLeft, dayLeft = math.max(0, perMinute - minuteUsed), math.max(0, perDay - dayUsed)
  if minuteLeft < dayLeft then return {0, perMinute, minuteLeft, seconds(minuteEnds), 0} end
  return {0, perDay, dayLeft, seconds(endOfDay), 0}
end

if ARGV[4] == 'look' then return standing() end
if ARGV[4] == 'stand' then
  local nextLevel = now - banEnds >= DAY and 1 or banLevel + 1
  return {minuteUsed, seconds(minuteEnds), dayUsed, seconds(endOfDay),
    now < toldUntil and strikes or 0, now < banEnds and seconds(banEnds) or 0, nextLevel}
end

if minuteUsed < perMinute and dayUsed < perDay then
  minuteUsed, dayUsed = minuteUsed + 1, dayUsed + 1
  redis.call('HSET', KEYS[1], 'ends', minuteEnds, 'minute', minuteUsed, 'date', day, 'day', dayUsed,
    'otherDate', otherDay, 'otherDay', otherDayUsed)
  if minuteUsed == 1 then redis.call('PEXPIRE', KEYS[1], 2 * DAY) end
  if toldUntil > 0 then redis.call('HSET', KEYS[2], 'told', 0) end -- its next 429 is again a first one
  return standing()
end

local ofMinute = {1, perMinute, 0, seconds(minuteEnds), atLeastOne(seconds(minuteEnds - now))}
local ofDay = {1, perDay, 0, seconds(endOfDay), atLeastOne(seconds(endOfDay - now))}
local denial = ofDay
if dayUsed < perDay or (minuteUsed >= perMinute and ofMinute[5] > ofDay[5]) then denial = ofMinute end
if not KEYS[2] then return denial end

local till = now + denial[5] * 1000
if now >= toldUntil then
  deniedSince, toldUntil, strikes = now, till, 0
else
  toldUntil = math.min(toldUntil, till)
  if now - deniedSince >= GRACE then strikes = strikes + 1 end
end
if strikes >= strikesAllowed then
  if now - banEnds >= DAY then banLevel = 1 else banLevel = banLevel + 1 end
  banEnds = now + banLength(banLevel)
  toldUntil = 0
  denial = {2, perMinute, 0, seconds(banEnds), atLeastOne(seconds(banEnds - now))}
end
redis.call('HSET', KEYS[2], 'since', deniedSince, 'told', toldUntil, 'strikes', strikes, 'ends', banEnds, 'level', banLevel)
redis.call('PEXPIRE', KEYS[2], math.max(toldUntil, banEnds + DAY, now + DAY) - now)
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
