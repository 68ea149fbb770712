-- Sends the requests of a file one after another, from its start again after its end. Each line is
-- one request: method, path, body and headers, with tabs in between. They are built beforehand, so
-- that sending one costs the load generator next to nothing.

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  requests, sent = {}, 0
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
    requests[#requests + 1] = wrk.format(fields[1], fields[2], headers, body)
  end
end

function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function done(summary, latency)
  local asked = 0
  for _, thread in ipairs(threads) do
    asked = asked + thread:get("sent")
  end
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"microseconds":%d,"sent":%d,"refused":%d,"failed":%d,"p50":%d,"p99":%d,"max":%d}\n',
    summary.requests, summary.duration, asked, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
end
