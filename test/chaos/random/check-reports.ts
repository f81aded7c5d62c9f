import { named } from './check-emails.ts';
import type { History } from './history.ts';
import type { Outcome } from './outcome.ts';

/** What is wrong with what came back about the emails of a workspace, in words. */
export function checkReports({ reports }: History, { emails }: Outcome): string[] {
  const taken = Map.groupBy(reports, ({ messageId }) => messageId);
  return emails.flatMap(({ id, messageId, timeline }) =>
    (taken.get(messageId) ?? []).flatMap(({ kind }) =>
      named(id, {
        [`a report that it is ${kind} was taken, and is not recorded`]: !timeline.some(
          ({ report }) => report === kind,
        ),
      }),
    ),
  );
}
