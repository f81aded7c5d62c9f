import { named } from './check-emails.ts';

/** What is left of old data. */
interface Remains {
  /** The ids of emails that should be gone, and of those that should not. */
  readonly removed: readonly string[];
  readonly kept: readonly string[];
  /** The ids of the emails that are there. */
  readonly emails: readonly string[];
  /** How many old events are there. */
  readonly events: number;
}

/** What is wrong with the removal of old data, in words. */
export function checkRemovals({ removed, kept, emails, events }: Remains): string[] {
  const there = new Set(emails);
  return named('old data', {
    'nothing was added that can be removed': removed.length === 0 || kept.length === 0,
    'an old email is still there': removed.some((id) => there.has(id)),
    'a young email was removed': kept.some((id) => !there.has(id)),
    'an old event is still there': events > 0,
  });
}
