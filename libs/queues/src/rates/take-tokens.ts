/**
 * Takes tokens out of the buckets of a whole group of requests, atomically; the arithmetic of `rate-limit.ts` in domain,
 * by the clock of Redis. A bucket is a text `<missing> <at>` (parts of a token, microseconds) and is gone once it would be full.
 * Anything else under its name counts as a full one, or all callers would be limited by each gateway for itself for as long as it is there.
 *
 * KEYS: the buckets, all of one hash slot. ARGV, four for each: what a period brings, the parts of a token, the burst, how many tokens
 * are wanted. Gives the time in microseconds, then for each bucket how many it granted and what it lacks after that.
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
