import { Refusal } from '@posthorn/kernel';

/** The refusal to show the queues while Redis cannot be reached or does not answer. The connection logs the reason. */
export function redisUnavailable(): Refusal {
  return new Refusal(503, 'Redis cannot be reached just now; try again in a moment');
}
