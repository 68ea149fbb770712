import { DAY_MS, MINUTE_MS } from "../../timing/units.ts";
import { FIRST_BAN, GRACE, MAX_BAN } from "../key-bans.ts";

/** The real time of a decision in Unix milliseconds: the first argument, or the server's clock if that is empty. */
const readTime = `
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
 * Each key is the hash of a shop, an address or a sandbox quota. Of its fields, `ends` and `minute` are the end and the
 * count of the minute, `date` and `day` a day and its count, and `otherDate` and `otherDay` another day and its count.
 * `ahead` is how many milliseconds the shop's clock is ahead of real time; times are in Unix milliseconds by that
 * clock. There is also a field for each API key that was limited recently, with five numbers: when the current denial
 * began (`deniedSince`) and ends (`deniedUntil`), the strikes in it, when the last ban ends, and its level.
 *
 * The arguments are the time, then one string for each key of the script: the number of requests to decide on (0 counts
 * nothing), the limits per minute and per day, the strikes for a ban, and the API key (empty for an address).
 *
 * The reply has one string for each key: empty for a shop that the server does not know, otherwise the numbers of a
 * `Decision` in its order. They are strings, because numbers above 2^53 would be rounded in transit.
 */
export const decideScript = `${readTime}
local function banLength(level) return min(${MAX_BAN}, ${FIRST_BAN} * 2 ^ (level - 1)) end

local function readKeyBans(text)
  local deniedSince, deniedUntil, strikes, banEnds, banLevel = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  return tonumber(deniedSince), tonumber(deniedUntil), tonumber(strikes), tonumber(banEnds), tonumber(banLevel)
end

-- Without this, expired strikes and bans would stay as long as the shop is used.
local function forgetKeyBans(owner, now)
  local fields = call('HGETALL', owner)
  for i = 1, #fields, 2 do
    local deniedSince, deniedUntil, _, banEnds = readKeyBans(fields[i + 1])
    if deniedSince and now >= deniedUntil and now - banEnds >= DAY then call('HDEL', owner, fields[i]) end
  end
end

local function decide(owner, question)
  local requests, perMinute, perDay, strikesForBan, key = string.match(question, '^(%S+) (%S+) (%S+) (%S+) (%S*)$')
  local kept = call('HMGET', owner, 'ends', 'minute', 'date', 'day', key, 'ahead')
  if key ~= '' and not kept[3] then return '' end
  local ahead = tonumber(kept[6]) or 0
  local now = realNow + ahead
  local today = floor(now / DAY)
  local endOfDay = (today + 1) * DAY
  local n = tonumber(requests)
  perMinute, perDay, strikesForBan = tonumber(perMinute), tonumber(perDay), tonumber(strikesForBan)

  -- Few keys have strikes or bans. If the server's clock was set back, no ban and no minute may get longer.
  local deniedSince, deniedUntil, strikes, banEnds, banLevel = 0, 0, 0, 0, 0
  if kept[5] then
    deniedSince, deniedUntil, strikes, banEnds, banLevel = readKeyBans(kept[5])
    if banLevel > 0 then banEnds = min(banEnds, now + banLength(banLevel)) end
  end
  local isBanned = now < banEnds

  local minuteEnds, minuteUsed = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0
  local day, dayUsed = tonumber(kept[3]) or 0, tonumber(kept[4]) or 0
  local isOldMinute, isOldDay = true, true
  if now >= minuteEnds or minuteUsed == 0 then
    minuteEnds, minuteUsed, isOldMinute = now + MINUTE, 0, false
  elseif minuteEnds > now + MINUTE then
    minuteEnds, isOldMinute = now + MINUTE, false
  end
  local otherDay, otherDayUsed = 0, 0
  if today ~= day then
    -- One other day is kept too, so that its count continues if the clock goes back over midnight: of the two stored
    -- days, the one that is nearer to today, or the one that is not today.
    local other = call('HMGET', owner, 'otherDate', 'otherDay')
    otherDay, otherDayUsed = tonumber(other[1]) or 0, tonumber(other[2]) or 0
    local comesBack = today == otherDay
    local used = comesBack and otherDayUsed or 0
    if comesBack or math.abs(today - day) <= math.abs(today - otherDay) then otherDay, otherDayUsed = day, dayUsed end
    day, dayUsed, isOldDay = today, used, false
  end

  local admitted = isBanned and 0 or max(0, min(n, perMinute - minuteUsed, perDay - dayUsed))
  if admitted > 0 then
    minuteUsed, dayUsed = minuteUsed + admitted, dayUsed + admitted
    if isOldMinute and isOldDay then
      -- Converting numbers to strings for HSET takes longer than two HINCRBY.
      local by = admitted == n and requests or string.format('%d', admitted)
      call('HINCRBY', owner, 'minute', by)
      call('HINCRBY', owner, 'day', by)
    else
      call('HSET', owner, 'ends', minuteEnds, 'minute', minuteUsed, 'date', day, 'day', dayUsed)
      if not isOldDay then
        call('HSET', owner, 'otherDate', otherDay, 'otherDay', otherDayUsed)
        if key ~= '' then forgetKeyBans(owner, now) end
      end
      call('PEXPIRE', owner, 2 * DAY)
    end
    deniedUntil = 0 -- the next 429 of this key is a first one again
  end

  local limited = isBanned and 0 or n - admitted
  if limited > 0 and key ~= '' then
    local retryMinute, retryDay = max(1, ceil((minuteEnds - now) / 1000)), max(1, ceil((endOfDay - now) / 1000))
    local retry = retryDay
    if dayUsed < perDay or (minuteUsed >= perMinute and retryMinute > retryDay) then retry = retryMinute end
    if now >= deniedUntil then
      -- The first limited request starts the denial. The others are within the grace period.
      deniedSince, deniedUntil, strikes = now, now + retry * 1000, 0
    else
      deniedUntil = min(deniedUntil, now + retry * 1000)
      local isStrike = now - deniedSince >= ${GRACE}
      local untilBan = max(1, strikesForBan - strikes)
      if isStrike and untilBan <= limited then
        strikes = strikes + untilBan
        if now - banEnds >= DAY then banLevel = 1 else banLevel = banLevel + 1 end
        banEnds, deniedUntil, limited = now + banLength(banLevel), 0, untilBan - 1
      elseif isStrike then
        strikes = strikes + limited
      end
    end
  end

  if kept[5] or (limited > 0 and key ~= '') then
    local keyBans = string.format('%d %d %d %d %d', deniedSince, deniedUntil, strikes, banEnds, banLevel)
    if n > 0 and keyBans ~= kept[5] then
      call('HSET', owner, key, keyBans)
      call('PEXPIRE', owner, 2 * DAY)
    end
  end
  return string.format('%d %d %d %d %d %d %d %d %d %d', admitted, limited, now, ahead, minuteEnds, minuteUsed,
    dayUsed, now < deniedUntil and strikes or 0, banEnds, banLevel)
end

local replies = {}
for i = 1, #KEYS do replies[i] = decide(KEYS[i], ARGV[i + 1]) end
return replies
`;

/**
 * Restores shops that the server does not know from saved counts. The larger count wins, and of two bans the one that
 * ends later. The arguments are the time, then one string for each key of the script: how many milliseconds its clock
 * is ahead of real time, the end of the minute in Unix milliseconds by that clock, its count, a day, its count, an
 * earlier day, its count, and for each API key with a ban its id, the end of the ban and its level.
 */
export const seedScript = `${readTime}
local function seed(shop, text)
  local words = {}
  for word in string.gmatch(text, '%S+') do words[#words + 1] = word end
  local ahead, ends, minute = tonumber(words[1]), tonumber(words[2]), tonumber(words[3])
  local kept = call('HMGET', shop, 'ends', 'minute', 'date', 'day', 'otherDate', 'otherDay', 'ahead')
  ahead = max(ahead, tonumber(kept[7]) or 0)
  local now = realNow + ahead
  if ahead > 0 then call('HSET', shop, 'ahead', string.format('%d', ahead)) end
  local keptEnds, keptMinute = tonumber(kept[1]) or 0, tonumber(kept[2]) or 0
  if keptEnds <= now then keptMinute = 0 end
  if ends > now and minute > keptMinute then
    call('HSET', shop, 'ends', min(ends, now + MINUTE), 'minute', minute)
  end
  if not kept[3] then
    call('HSET', shop, 'date', words[4], 'day', words[5], 'otherDate', words[6], 'otherDay', words[7])
  else
    for i = 4, 6, 2 do
      local used = tonumber(words[i + 1])
      if kept[3] == words[i] and used > tonumber(kept[4]) then call('HSET', shop, 'day', used) end
      if kept[5] == words[i] and used > tonumber(kept[6]) then call('HSET', shop, 'otherDay', used) end
    end
  end
  for i = 8, #words, 3 do
    local known = call('HGET', shop, words[i])
    local knownEnds = known and tonumber(string.match(known, '^%d+ %d+ %d+ (%d+)')) or 0
    if tonumber(words[i + 1]) > knownEnds then
      call('HSET', shop, words[i], '0 0 0 ' .. words[i + 1] .. ' ' .. words[i + 2])
    end
  end
  call('PEXPIRE', shop, 2 * DAY)
end
for i = 1, #KEYS do seed(KEYS[i], ARGV[i + 1]) end
`;

/** Sets the clock of a sandbox, `KEYS[1]`, at least `ARGV[1]` milliseconds ahead of real time. */
export const advanceScript = `
local ahead = tonumber(redis.call('HGET', KEYS[1], 'ahead')) or 0
if tonumber(ARGV[1]) > ahead then redis.call('HSET', KEYS[1], 'ahead', ARGV[1]) end
redis.call('PEXPIRE', KEYS[1], ${2 * DAY_MS})
return ''
`;

/** Forgets the strikes and the ban of the API key `ARGV[1]` of a shop. */
export const forgetKeyScript = "return redis.call('HDEL', KEYS[1], ARGV[1])";

/** Deletes the hashes of shops or other owners of counts. */
export const forgetScript = "return redis.call('UNLINK', unpack(KEYS))";

/** How long a process counts as running after its last report, in milliseconds. */
export const PRESENCE_LIFETIME = 3_000;

/** Records that the process `ARGV[1]` runs and returns the number of running processes. */
export const presenceScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${PRESENCE_LIFETIME})
redis.call('PEXPIRE', KEYS[1], ${PRESENCE_LIFETIME})
return redis.call('ZCARD', KEYS[1])
`;
