import { DAY_MS, MINUTE_MS } from "../../timing/clock.ts";
import { FIRST_BAN, FORGOTTEN_AFTER, GRACE, MAX_BAN } from "../key-bans.ts";
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
 * `KeyBans`, but uses the server's clock, which all processes share.
 *
 * Each key is the hash of a shop, an address or a sandbox quota. All its times are Unix milliseconds by the shop's clock:
 *
 * - `ahead`: how many milliseconds that clock is ahead of real time;
 * - `ends`, `minute`: the end of the minute, and its count;
 * - `date`, `day`: a day, and its count;
 * - `otherDate`, `otherDay`: another day, and its count;
 * - the id of each API key that was limited recently: when the current denial began and ends, the strikes in it, when
 *   the last ban ends, and its level.
 *
 * The arguments are the time, then one string for each key of the script: the number of requests to decide on (0 counts
 * nothing), the limits per minute and per day, the strikes for a ban, and the API key (empty for an address).
 *
 * The reply has one string for each key: empty for a shop that the server does not know, otherwise the numbers of a
 * `Decision` in its order. They are strings, because numbers above 2^53 would be rounded in transit.
 */
export const decide = script(`${readTime}
local function banLength(level) return min(${MAX_BAN}, ${FIRST_BAN} * 2 ^ (level - 1)) end

local function readBans(text)
  local deniedSince, deniedUntil, strikes, banEnds, banLevel = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  if not deniedSince then return nil end
  return {
    deniedSince = tonumber(deniedSince), deniedUntil = tonumber(deniedUntil), strikes = tonumber(strikes),
    banEnds = tonumber(banEnds), banLevel = tonumber(banLevel),
  }
end

-- Without this, expired strikes and bans would stay as long as the shop is used.
local function forgetSpentBans(owner, now)
  local fields = call('HGETALL', owner)
  for i = 1, #fields, 2 do
    local bans = readBans(fields[i + 1])
    if bans and now >= bans.deniedUntil and now - bans.banEnds >= ${FORGOTTEN_AFTER} then
      call('HDEL', owner, fields[i])
    end
  end
end

-- The rules of KeyBans for several limited requests at once. Returns how many get a 429; the others are banned.
local function countStrikes(bans, limited, strikesForBan, retry, now)
  if now >= bans.deniedUntil then
    -- The first limited request starts the denial. The others are within the grace period.
    bans.deniedSince, bans.deniedUntil, bans.strikes = now, now + retry * 1000, 0
    return limited
  end
  bans.deniedUntil = min(bans.deniedUntil, now + retry * 1000)
  if now - bans.deniedSince < ${GRACE} then return limited end
  local untilBan = max(1, strikesForBan - bans.strikes)
  if limited < untilBan then
    bans.strikes = bans.strikes + limited
    return limited
  end
  bans.strikes = bans.strikes + untilBan
  bans.banLevel = now - bans.banEnds >= ${FORGOTTEN_AFTER} and 1 or bans.banLevel + 1
  bans.banEnds, bans.deniedUntil = now + banLength(bans.banLevel), 0
  return untilBan - 1
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
  -- Most keys have neither strikes nor bans: bans is then nil. If the server's clock was set back, no ban and no
  -- minute may get longer.
  local bans = stored[5] and readBans(stored[5]) or nil
  if bans and bans.banLevel > 0 then bans.banEnds = min(bans.banEnds, now + banLength(bans.banLevel)) end

  -- 2. Start a new minute and day if the stored ones are over, as Windows does.
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
  local isBanned = bans ~= nil and now < bans.banEnds
  local admitted = isBanned and 0 or max(0, min(n, perMinute - minuteUsed, perDay - dayUsed))
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
        if key ~= '' then forgetSpentBans(owner, now) end
      end
      -- There can be very many addresses, so their counts end with the day and the minute.
      call('PEXPIRE', owner, key == '' and (today + 1) * DAY - now + MINUTE or 2 * DAY)
    end
    if bans then bans.deniedUntil = 0 end -- the next 429 of this key is a first one again
  end

  -- 4. Count the others as strikes.
  local limited = isBanned and 0 or n - admitted
  if limited > 0 and key ~= '' then
    local endOfDay = (today + 1) * DAY
    local retryMinute, retryDay = max(1, ceil((minuteEnds - now) / 1000)), max(1, ceil((endOfDay - now) / 1000))
    local retry = retryDay
    if dayUsed < perDay or (minuteUsed >= perMinute and retryMinute > retryDay) then retry = retryMinute end
    bans = bans or { deniedSince = 0, deniedUntil = 0, strikes = 0, banEnds = 0, banLevel = 0 }
    limited = countStrikes(bans, limited, strikesForBan, retry, now)
  end
  if bans and n > 0 then
    local text = string.format('%d %d %d %d %d', bans.deniedSince, bans.deniedUntil, bans.strikes, bans.banEnds, bans.banLevel)
    if text ~= stored[5] then
      call('HSET', owner, key, text)
      call('PEXPIRE', owner, 2 * DAY)
    end
  end

  local strikes = bans and now < bans.deniedUntil and bans.strikes or 0
  return string.format('%d %d %d %d %d %d %d %d %d %d', admitted, limited, now, ahead, minuteEnds, minuteUsed, dayUsed,
    strikes, bans and bans.banEnds or 0, bans and bans.banLevel or 0)
end

local replies = {}
for i = 1, #KEYS do replies[i] = decide(KEYS[i], ARGV[i + 1]) end
return replies
`);
