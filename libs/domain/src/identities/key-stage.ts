/** The stages of a DKIM key, with their meanings; a domain has at most one key per stage and algorithm. */
export const KEY_STAGES = {
  CURRENT: 'emails are signed with it once its record is found',
  NEXT: 'waits for its record, and then replaces the current one',
  PREVIOUS: 'signs nothing any more; its record stays for emails that are still on their way',
} as const;

export type KeyStage = keyof typeof KEY_STAGES;
