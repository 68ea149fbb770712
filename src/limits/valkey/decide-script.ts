import { DAY_MS, MINUTE_MS } from "../../timing/clock.ts";
import { GRACE } from "../strikes.ts";
import { script } from "./script.ts";

/** The real time of a decision in Unix milliseconds: the first argument, or the server's clock if that is empty. */
export const readTime = `
local call, ceil, floor, max, min = redis.call, math.ceil, math.floor, math.max, math.min
local MINUTE, DAY = ${MINUTE_MS}, ${DAY_MS}
local realNow = tonumber(ARGV[1])
if not realNow then
  local time = call('TIME')
  realNow = time[1] * 1000 + floor(time[2] / 1000)
end
`;

/**
 * Decides on the requests of one turn of the event loop, and counts them. It follows the same rules as `Windows` and
 * `Strikes`, but uses the server's clock, which all processes share.
 *
 * Each key is the hash of a shop, an address or a sandbox quota. All its times are Unix milliseconds by the shop's clock:
 *
 * - `ahead`: how many milliseconds that clock is ahead of real time;
 * - `ends`, `minute`: the end of the minute, and its count;
 * - `date`, `day`: a day, and its count;
 * - `otherDate`, `otherDay`: another day, and its count;
 * - the id of each API key that was limited recently: when the current denial began and ends, and the strikes in it.
 *
 * The arguments are the time, then one string for each key of the script: the number of requests to decide on (0 counts
 * nothing), the limits per minute and per day, the strikes that lead to a ban, and the API key (empty for an address).
 *
 * The reply has one string for each key: empty for a shop that the server does not know, otherwise the numbers of a
 * `Decision` in its order. They are strings, because numbers above 2^53 would be rounded in transit.
 */
export const decide = script(`${readTime}
local function readStrikes(text)
  local deniedSince, deniedUntil, count = string.match(text, '^(%d+) (%d+) (%d+)$')
  if not deniedSince then return nil end
  return { deniedSince = tonumber(deniedSince), deniedUntil = tonumber(deniedUntil), count = tonumber(count) }
end

-- Without this, expired strikes would stay as long as the shop is used.
local function forgetSpentStrikes(owner, now)
  local fields = call('HGETALL', owner)
  for i = 1, #fields, 2 do
    local strikes = readStrikes(fields[i + 1])
    if strikes and now >= strikes.deniedUntil then call('HDEL', owner, fields[i]) end
  end
end

-- The rules of Strikes for several limited requests at once. Returns which of them is the last strike, from 1; 0 for none.
local function countStrikes(strikes, limited, strikesForBan, retry, now)
  local deniedUntil = now + retry * 1000
  if now >= strikes.deniedUntil then
    -- The first limited request starts the denial. The others are within the grace period.
    strikes.deniedSince, strikes.deniedUntil, strikes.count = now, deniedUntil, 0
    return 0
  end
  strikes.deniedUntil = min(strikes.deniedUntil, deniedUntil)
  if now - strikes.deniedSince < ${GRACE} then return 0 end
  local untilBan = max(1, strikesForBan - strikes.count)
  if limited < untilBan then
    strikes.count = strikes.count + limited
    return 0
  end
  -- All strikes are forgotten. A request after the last one starts a denial again.
  strikes.count, strikes.deniedUntil = 0, 0
  if limited > untilBan then strikes.deniedSince, strikes.deniedUntil = now, deniedUntil end
  return untilBan
end

local function decide(owner, question)
  -- 1. Read the question and what is stored.
  local requests, perMinute, perDay, strikesForBan, key = string.match(question, '^(%S+) (%S+) (%S+) (%S+) (%S*)$')
  local n = tonumber(requests)
  perMinute, perDay, strikesForBan = tonumber(perMinute), tonumber(perDay), tonumber(strikesForBan)
  local stored = call('HMGET', owner, 'ends', 'minute', 'date', 'day', key, 'ahead')
  if key ~= '' and not stored[3] then return '' end
  local minuteEnds, minuteUsed = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
  local date, dayUsed = tonumber(stored[3]) or 0, tonumber(stored[4]) or 0
  local ahead = tonumber(stored[6]) or 0
  local now = realNow + ahead
  local today = floor(now / DAY)
  local strikes = stored[5] and readStrikes(stored[5]) or nil -- most keys have none

  -- 2. Start a new minute and day if the stored ones are over, as Windows does. No minute gets longer because the
  -- server's clock was set back.
  local isSameMinute, isSameDay = true, true
  if now >= minuteEnds or minuteUsed == 0 then
    minuteEnds, minuteUsed, isSameMinute = now + MINUTE, 0, false
  elseif minuteEnds > now + MINUTE then
    minuteEnds, isSameMinute = now + MINUTE, false
  end
  local otherDate, otherDayUsed = 0, 0
  if today ~= date then
    -- One other day is kept too, so that its count continues if the clock goes back over midnight. It is the day that
    -- was current until now if today is the stored other day. Otherwise, it is the stored day that is nearer to today.
    local other = call('HMGET', owner, 'otherDate', 'otherDay')
    otherDate, otherDayUsed = tonumber(other[1]) or 0, tonumber(other[2]) or 0
    local comesBack = today == otherDate
    local used = comesBack and otherDayUsed or 0
    if comesBack or math.abs(today - date) <= math.abs(today - otherDate) then otherDate, otherDayUsed = date, dayUsed end
    date, dayUsed, isSameDay = today, used, false
  end

  -- 3. Count the requests that both windows have room for.
  local admitted = max(0, min(n, perMinute - minuteUsed, perDay - dayUsed))
  if admitted > 0 then
    minuteUsed, dayUsed = minuteUsed + admitted, dayUsed + admitted
    if isSameMinute and isSameDay then
      -- Converting numbers to strings for HSET takes longer than two HINCRBY.
      local by = admitted == n and requests or string.format('%d', admitted)
      call('HINCRBY', owner, 'minute', by)
      call('HINCRBY', owner, 'day', by)
    else
      call('HSET', owner, 'ends', minuteEnds, 'minute', minuteUsed, 'date', date, 'day', dayUsed)
      if not isSameDay then
        call('HSET', owner, 'otherDate', otherDate, 'otherDay', otherDayUsed)
        if key ~= '' then forgetSpentStrikes(owner, now) end
      end
      -- There can be very many addresses, so their counts end with the day and the minute.
      call('PEXPIRE', owner, key == '' and (today + 1) * DAY - now + MINUTE or 2 * DAY)
    end
    if strikes then strikes.deniedUntil = 0 end -- the next 429 of this key is a first one again
  end

  -- 4. Count the others as strikes.
  local limited, lastStrike = n - admitted, 0
  if limited > 0 and key ~= '' then
    local endOfDay = (today + 1) * DAY
    local retryMinute, retryDay = max(1, ceil((minuteEnds - now) / 1000)), max(1, ceil((endOfDay - now) / 1000))
    local retry = retryDay
    if dayUsed < perDay or (minuteUsed >= perMinute and retryMinute > retryDay) then retry = retryMinute end
    strikes = strikes or { deniedSince = 0, deniedUntil = 0, count = 0 }
    lastStrike = countStrikes(strikes, limited, strikesForBan, retry, now)
  end
  if strikes and n > 0 then
    local text = string.format('%d %d %d', strikes.deniedSince, strikes.deniedUntil, strikes.count)
    if text ~= stored[5] then
      call('HSET', owner, key, text)
      call('PEXPIRE', owner, 2 * DAY)
    end
  end

  local current = strikes and now < strikes.deniedUntil and strikes.count or 0
  return string.format('%d %d %d %d %d %d %d %d', admitted, lastStrike, now, ahead, minuteEnds, minuteUsed, dayUsed, current)
end

local replies = {}
for i = 1, #KEYS do replies[i] = decide(KEYS[i], ARGV[i + 1]) end
return replies
`);
