import type { EmailId, WorkspaceId } from '@posthorn/kernel';
import { domainOf, type FailureClass } from '@posthorn/domain';
import type { EmailFailure, FoundEmail } from '@posthorn/database';
import { NOT_LEFT, type StatusChoice } from './email-search.ts';
import { isOnItsWay } from './emails-page.ts';
import { failureText } from './timeline-table.ts';

/** How many emails are counted at most: the newest that match. */
export const MAX_COUNTED = 10_000;
/** How many answers, domains and workspaces are named. */
const MAX_NAMED = 10;

/** How many emails have this value. */
export interface ValueCount<Value extends string> {
  readonly value: Value;
  readonly count: number;
}

/** How many emails there are of each kind; the most frequent first. */
export interface EmailCounts {
  /** Those that have not left yet are counted as `SENT`, and once more by themselves. */
  readonly statuses: readonly ValueCount<StatusChoice>[];
  /** Of those that failed, or failed so far. */
  readonly classes: readonly ValueCount<FailureClass>[];
  /** In the words of the relay or of Posthorn. */
  readonly answers: readonly ValueCount<string>[];
  /** Of the recipients. */
  readonly domains: readonly ValueCount<string>[];
  readonly workspaces: readonly ValueCount<WorkspaceId>[];
}

/** Counts emails by what an operator searches for. @param failures the last failed attempts */
export function countEmails(
  emails: readonly FoundEmail[],
  failures: ReadonlyMap<EmailId, EmailFailure>,
): EmailCounts {
  const statuses = emails.flatMap((email): StatusChoice[] =>
    isOnItsWay(email) ? [email.status, NOT_LEFT] : [email.status],
  );
  return {
    statuses: countValues(statuses),
    classes: countValues([...failures.values()].map((failure) => failure.class)),
    answers: countValues([...failures.values()].map(({ detail }) => failureText(detail))).slice(0, MAX_NAMED),
    domains: countValues(emails.map(({ to }) => domainOf(to))).slice(0, MAX_NAMED),
    workspaces: countValues(emails.map(({ workspaceId }) => workspaceId)).slice(0, MAX_NAMED),
  };
}

function countValues<Value extends string>(values: readonly Value[]): ValueCount<Value>[] {
  const groups = [...Map.groupBy(values, (value) => value)];
  return groups.map(([value, { length }]) => ({ value, count: length })).sort((a, b) => b.count - a.count);
}
