-- Sends the requests of a file one after another, from its start again after its end. Each line is
-- one request: method, path, body and headers, with tabs in between. They are built beforehand, so
-- that sending one costs the load generator next to nothing. `{unique}` in one is a different text each time.

function init(args)
  requests, sent = {}, 0
  run = string.format("%d-%s-", os.time(), tostring({}):sub(8))
  for line in io.lines(args[1]) do
    local fields = {}
    for field in (line .. "\t"):gmatch("([^\t]*)\t") do fields[#fields + 1] = field end
    local headers = {}
    for name, value in pairs(wrk.headers) do headers[name] = value end
    for index = 4, #fields do
      local name, value = fields[index]:match("^([^:]+): (.*)$")
      headers[name] = value
    end
    local body = fields[3] ~= "" and fields[3] or nil
    if body then headers["Content-Type"] = "application/json" end
    local text = wrk.format(fields[1], fields[2], headers, body)
    local first, last = text:find("{unique}", 1, true)
    requests[#requests + 1] = first and { text:sub(1, first - 1), text:sub(last + 1) } or text
  end
end

function request()
  sent = sent + 1
  local one = requests[(sent - 1) % #requests + 1]
  return type(one) == "table" and one[1] .. run .. sent .. one[2] or one
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"refused":%d,"failed":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
