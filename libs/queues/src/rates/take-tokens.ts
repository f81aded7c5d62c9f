/**
 * Atomically takes tokens from the buckets of a group of requests: the arithmetic of `rate-limit.ts` in domain, by the clock of Redis. A bucket is a string
 * `<missing> <at>` (in parts of a token, and microseconds) that expires when it would be full. Any other value under its key counts as a full bucket;
 * failing instead would leave every gateway to its local limits for as long as that value exists.
 *
 * KEYS: the buckets, all in one hash slot. ARGV, four for each bucket: tokens per period, parts per token, burst, tokens wanted. Returns the time in
 * microseconds, then for each bucket how many tokens were granted and how many parts are missing afterwards.
 */
export const TAKE_TOKENS = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local reply = { now }
for i, key in ipairs(KEYS) do
  local amount, token = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2])
  local burst, wanted = tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i])
  local text = redis.pcall('GET', key)
  local missing, at = string.match(type(text) == 'string' and text or '', '^(%d+) (%d+)$')
  missing = math.max(0, (missing or 0) - math.max(0, now - (at or now)) * amount)
  missing = math.min(missing, burst * token)
  local granted = math.min(wanted, burst - math.ceil(missing / token))
  missing = missing + granted * token
  if missing > 0 then
    redis.call('SET', key, string.format('%.0f %.0f', missing, now), 'PX', math.ceil(missing / amount / 1000))
  end
  reply[2 * i], reply[2 * i + 1] = granted, missing
end
return reply`;
