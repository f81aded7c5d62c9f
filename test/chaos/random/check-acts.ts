import { named } from './check-emails.ts';
import type { History } from './history.ts';
import type { AuditRow, Outcome } from './outcome.ts';

/** What is wrong with the traces of what operators have done to the emails of a workspace, in words. */
export function checkActs({ copies, moved }: History, { emails, audit }: Outcome): string[] {
  const rows = Map.groupBy(audit, ({ action, subjectId }) => `${action} ${subjectId}`);
  const entries = (action: string, id: string): readonly AuditRow[] => rows.get(`${action} ${id}`) ?? [];
  return emails.flatMap(({ id, status }) => {
    const of = copies.get(id)?.accepted?.id;
    const sentAgain = entries('email.sent_again', id);
    const cancelled = entries('email.cancelled', id).length;
    return named(id, {
      'recorded as a copy of something else':
        sentAgain.length !== (of === undefined ? 0 : 1) || sentAgain.some(({ copyOf }) => copyOf !== of),
      'cancelled by operators more than once': cancelled > 1,
      'recorded as cancelled': cancelled > 0 && status !== 'CANCELLED',
      'moved, and not recorded': moved.has(id) && entries('email.moved', id).length === 0,
    });
  });
}
