import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { INVITATION_MAIL_LIMITS, type MailLimit, VERIFICATION_MAIL_LIMITS } from '@posthorn/domain';
import type { Transaction } from '../transactions/transaction.ts';
import { addressHash } from './address-hash.ts';

/**
 * How many mails are allowed, by the table with a row for each: it has `workspace_id`, `address_hash` and `created_at`, and for each of the first two an index with
 * the time.
 */
const LIMITS = {
  invitation_mails: INVITATION_MAIL_LIMITS,
  verification_links: VERIFICATION_MAIL_LIMITS,
} as const;

type CountedMails = keyof typeof LIMITS;

/** Too many mails recently; nothing has changed. */
export interface MailRefusal {
  readonly refused: 'too_many_mails';
  readonly retryAfterSeconds: number;
}

/** The workspace and the recipient of a mail. */
export interface CountedMail {
  readonly workspaceId: WorkspaceId;
  readonly address: string;
}

/**
 * Why no further mail is allowed at the moment. The workspace is locked, so its own limits are exact; an address's limit over all
 * workspaces may be exceeded by concurrent requests.
 */
export async function mailRefusal(
  transaction: Transaction,
  now: Date,
  table: CountedMails,
  mail: CountedMail,
): Promise<MailRefusal | undefined> {
  let retryAfterSeconds = 0;
  for (const limit of LIMITS[table]) {
    const since = new Date(now.getTime() - limit.withinSeconds * 1_000);
    const statement = nthNewestOf(table, limit);
    const values = [uuidOf(mail.workspaceId), addressHash(mail.address), since, limit.max - 1];
    const [oldest] = await transaction.$queryRawUnsafe<{ createdAt: Date }[]>(statement, ...values);
    if (oldest === undefined) continue;
    const seconds = Math.ceil((oldest.createdAt.getTime() - since.getTime()) / 1_000);
    retryAfterSeconds = Math.max(retryAfterSeconds, seconds);
  }
  return retryAfterSeconds === 0 ? undefined : { refused: 'too_many_mails', retryAfterSeconds };
}

const SCOPES: Readonly<Record<MailLimit['of'], string>> = {
  'workspace': 'workspace_id = $1::uuid AND $2::bytea IS NOT NULL',
  'address': 'address_hash = $2::bytea AND $1::uuid IS NOT NULL',
  'address in workspace': 'workspace_id = $1::uuid AND address_hash = $2::bytea',
};

/**
 * $1 uuid: the workspace. $2 bytea: the address. $3 timestamptz: since when. $4 int: how many newer ones are passed over.
 *
 * Index: that of the table on the workspace or the address and the time, from its end. Locks: none.
 */
function nthNewestOf(table: CountedMails, { of }: MailLimit): string {
  return `
SELECT   created_at AS "createdAt"
FROM     ${table}
WHERE    ${SCOPES[of]} AND created_at > $3::timestamptz
ORDER BY created_at DESC
OFFSET   $4::int
LIMIT    1`;
}
