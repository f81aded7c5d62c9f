/** The statuses of an API key, with their meanings. */
export const API_KEY_STATUSES = {
  ACTIVE: 'authenticates requests',
  ARCHIVED: 'deleted: lets nobody in any more, and is shown once more, by the answer to its deletion',
} as const;

export type ApiKeyStatus = keyof typeof API_KEY_STATUSES;
