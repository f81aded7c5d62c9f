-- How many lanes of a queue have due work and are not held back: what workers are scaled by. It steps from lane to lane through outbox_ready_by_lane_idx, so
-- that a lane of a million rows costs as much as one of a single row. A pause of a workspace's single emails also holds their retries, which have a lane of
-- their own.
CREATE OR REPLACE FUNCTION due_lanes(of_queue outbox_queue) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  WITH RECURSIVE step (lane_id) AS (
    (SELECT o.lane_id FROM outbox o WHERE o.queue = of_queue AND o.state = 'ready' ORDER BY o.lane_id LIMIT 1)
    UNION ALL
    SELECT next.lane_id
    FROM   step s
    CROSS  JOIN LATERAL (
      SELECT   o.lane_id FROM outbox o
      WHERE    o.queue = of_queue AND o.state = 'ready' AND o.lane_id > s.lane_id
      ORDER BY o.lane_id
      LIMIT    1
    ) next
  )
  SELECT count(*)::integer FROM step s
  WHERE  NOT EXISTS (SELECT FROM paused_lanes p WHERE p.queue = of_queue AND p.lane_id IN (s.lane_id, replace(s.lane_id, '.retry', '.now'), '*'));
END;
