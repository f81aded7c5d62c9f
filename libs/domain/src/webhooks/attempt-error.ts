import { POST_ERROR_CLASSES } from './post-outcome.ts';

/** Why an attempt to deliver an event failed, as shown to users. */
export const ATTEMPT_ERRORS = {
  ...POST_ERROR_CLASSES,
  worker_died: 'each process that took the delivery died with it',
  internal: 'a fault of ours; it costs no attempt',
} as const;

export type AttemptError = keyof typeof ATTEMPT_ERRORS;
