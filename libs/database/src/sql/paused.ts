/**
 * Whether a lane is paused: by itself or with its whole queue, and the lane of retries of single emails with that of single emails. So a pause also holds retries
 * if a process wrote it that knows no such lane, and none is left behind when such a process ends it.
 *
 * Index: paused_lanes_pkey. Locks: none. The function due_lanes does the same.
 *
 * @param queue an SQL expression, as is `laneId`
 */
export function isPaused(queue: string, laneId: string): string {
  return `EXISTS (SELECT FROM paused_lanes p WHERE p.queue = ${queue} AND p.lane_id IN (${laneId}, replace(${laneId}, '.retry', '.now'), '*'))`;
}
