import { readTime } from "./decide-script.ts";
import { script } from "./script.ts";

/**
 * Restores shops that the server does not know from saved counts. The larger count wins. The arguments are the time, then one string for each key of the script: how many milliseconds its clock
 * is ahead of real time, the end of the minute in Unix milliseconds by that clock, its count, a day, its count, an
 * earlier day, and its count.
 */
export const seed = script(`${readTime}
local function seed(shop, text)
  local words = {}
  for word in string.gmatch(text, '%S+') do words[#words + 1] = word end
  local ahead, ends, minute = tonumber(words[1]), tonumber(words[2]), tonumber(words[3])
  local stored = call('HMGET', shop, 'ends', 'minute', 'date', 'day', 'otherDate', 'otherDay', 'ahead')
  ahead = max(ahead, tonumber(stored[7]) or 0)
  local now = realNow + ahead
  if ahead > 0 then call('HSET', shop, 'ahead', string.format('%d', ahead)) end
  local storedEnds, storedMinute = tonumber(stored[1]) or 0, tonumber(stored[2]) or 0
  if storedEnds <= now then storedMinute = 0 end
  if ends > now and minute > storedMinute then
    call('HSET', shop, 'ends', min(ends, now + MINUTE), 'minute', minute)
  end
  if not stored[3] then
    call('HSET', shop, 'date', words[4], 'day', words[5], 'otherDate', words[6], 'otherDay', words[7])
  else
    for i = 4, 6, 2 do
      local used = tonumber(words[i + 1])
      if stored[3] == words[i] and used > tonumber(stored[4]) then call('HSET', shop, 'day', used) end
      if stored[5] == words[i] and used > tonumber(stored[6]) then call('HSET', shop, 'otherDay', used) end
    end
  end
  call('PEXPIRE', shop, 2 * DAY)
end
for i = 1, #KEYS do seed(KEYS[i], ARGV[i + 1]) end
`);
