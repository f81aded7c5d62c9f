/** How long deliveries are also signed with the previous token after a webhook got a new one, in seconds; 0: not at all. */
export const TOKEN_OVERLAP_SECONDS = { min: 0, max: 7 * 86_400, default: 86_400 } as const;
