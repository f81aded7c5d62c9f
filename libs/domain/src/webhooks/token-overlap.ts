/** For how many seconds what is posted is signed with the token before, too, when a webhook gets another; 0: not at all. */
export const TOKEN_OVERLAP_SECONDS = { min: 0, max: 7 * 86_400, default: 86_400 } as const;
