import { type EmailId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { EMAIL_STATUSES, type PageRequest, parseMailbox, parseOpaqueStart } from '@posthorn/domain';
import { type EmailFilter } from '@posthorn/database';
import { Given } from '../pages/given.ts';

const PAGE_ROWS = 50;
/** What a search can be given, by the names of its fields. */
const FIELDS = ['to', 'status', 'workspace', 'groupBy', 'after', 'before'] as const;

/** What is searched for. */
export interface EmailSearch {
  readonly filter: EmailFilter;
  /** Undefined: the emails of all workspaces. */
  readonly workspaceId: WorkspaceId | undefined;
  readonly page: PageRequest<EmailId>;
  /** What the fields are filled with. */
  readonly asked: Readonly<Record<(typeof FIELDS)[number], string | undefined>>;
}

/** Judges what somebody searches for. @throws Refusal (400) that names the first thing that is wrong */
export function emailSearch(query: unknown): EmailSearch {
  const given = new Given(query);
  const createdAfter = given.moment('after');
  const createdBefore = given.moment('before');
  if (createdAfter && createdBefore && createdAfter >= createdBefore)
    throw new Refusal(400, '`before` is not later than `after`; give a later time, or leave one out');
  const status = given.word('status', EMAIL_STATUSES);
  return {
    filter: { status, to: addressIn(given), groupBy: given.text('groupBy'), createdAfter, createdBefore },
    workspaceId: given.id('workspace', 'wrk'),
    page: { limit: PAGE_ROWS, sort: 'createdAt.desc', startAt: startIn(given) },
    asked: askedIn(given),
  };
}

/** What the fields were filled with, whatever is wrong with it. */
export function askedIn(given: Given): EmailSearch['asked'] {
  const asked = FIELDS.map((name) => [name, readable(() => given.text(name))]);
  return Object.fromEntries(asked) as EmailSearch['asked'];
}

function readable(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function addressIn(given: Given): string | undefined {
  const text = given.text('to');
  if (text === undefined) return undefined;
  const parsed = parseMailbox(text);
  if ('fault' in parsed) throw new Refusal(400, `\`to\` ${parsed.fault}`);
  return parsed.mailbox.address;
}

function startIn(given: Given): EmailId | undefined {
  const text = given.text('startAt');
  const start = text === undefined ? undefined : parseOpaqueStart('trs', text);
  if (text !== undefined && start === undefined)
    throw new Refusal(400, '`startAt` is malformed; begin the search anew');
  return start;
}
