/** The statuses of an API key, with their meanings. */
export const API_KEY_STATUSES = {
  ACTIVE: 'authenticates requests',
  ARCHIVED: 'deleted, as the answer to its deletion shows it',
} as const;

export type ApiKeyStatus = keyof typeof API_KEY_STATUSES;
