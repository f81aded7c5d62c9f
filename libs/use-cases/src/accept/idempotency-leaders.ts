import { type AcceptableEmail, type AcceptanceOutcome } from '@posthorn/database';

/** For each email the index of the first one under its idempotency key: its own if it has none. */
export function leadersByKey(emails: readonly AcceptableEmail[]): number[] {
  const leaders = new Map<string, number>();
  return emails.map(({ workspaceId, idempotency }, index) => {
    if (idempotency === undefined) return index;
    const key = `${workspaceId} ${idempotency.key}`;
    if (!leaders.has(key)) leaders.set(key, index);
    return leaders.get(key)!;
  });
}

/** What becomes of an email that stood behind another of its group under the same key. */
export function outcomeBehind(
  { idempotency: claim }: AcceptableEmail,
  outcome: AcceptanceOutcome,
  { idempotency }: AcceptableEmail,
): AcceptanceOutcome {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'replayed', fingerprint: claim!.fingerprint, answer: claim!.answer };
    case 'replayed':
      return outcome;
    case 'unverified':
    case 'over_limit':
      // The same payload judged at the same moment; another one finds a key that was given back.
      return claim!.fingerprint.equals(idempotency!.fingerprint) ? outcome : { kind: 'again' };
    case 'again':
    case 'failed':
      return { kind: 'again' };
  }
}
