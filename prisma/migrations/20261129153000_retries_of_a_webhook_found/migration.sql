-- When a disabled webhook is activated again, its deliveries that wait for a retry are made due, which can be a day ahead. Only a failed attempt pays for
-- this index: a delivery that succeeds never waits, and emails are not in it.
CREATE INDEX outbox_retries_by_lane_idx ON outbox (lane_id, subject_id) WHERE queue = 'webhook' AND state = 'waiting';
