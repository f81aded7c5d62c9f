/** Where a key of a domain stands, with what that means; a domain has at most one of each for an algorithm. */
export const KEY_STAGES = {
  CURRENT: 'emails are signed with it once its record is found',
  NEXT: 'made to follow the current one; its record is waited for',
  PREVIOUS: 'signs nothing any more; its record stays for emails that are still on their way',
} as const;

export type KeyStage = keyof typeof KEY_STAGES;
