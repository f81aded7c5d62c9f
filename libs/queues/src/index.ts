export { Clock, MAX_UNANSWERED_CLAIMS, type ClockOptions, type DueRows } from './clock.ts';
export type { RedisOptions } from './connections.ts';
export { JobWorker, type JobWorkerOptions } from './job-worker.ts';
export { isEmailTurn, QUEUES, type JobHandlers, type JobName, type Jobs, type QueueName } from './jobs.ts';
export { LaneRings, SLOTS_PER_LANE, type LaneRingsOptions } from './lane-rings.ts';
export { MaintenanceSchedule, type RegularJob } from './maintenance.ts';
export { RateLimiter, type RateLimiterOptions } from './rates/rate-limiter.ts';
export { CLOCK_SLOT, Turns, type LaneDemand, type TurnsOptions } from './turn.ts';
export { Workbench, type HeldRow, type WorkbenchOptions } from './workbench.ts';
