import { newId, type WorkspaceId } from '@posthorn/kernel';
import { bulkLane, messageIdFor, nowLane } from '@posthorn/domain';
import { type AcceptableEmail, AcceptanceStore, type Database } from '@posthorn/database';

const EMAILS_PER_GROUP = 500;

export interface Seed {
  readonly workspaceId: WorkspaceId;
  readonly count: number;
  /** `now`: the lane of single emails; `bulk`: that of batches. */
  readonly lane: 'now' | 'bulk';
  /** When they are due. Default: now. */
  readonly sendAt?: Date;
  /** The recipient of all of them. */
  readonly to: string;
}

/** Accepts many emails directly through the store, without requests and without rings. @returns their ids */
export async function seedEmails(database: Database, seed: Seed): Promise<string[]> {
  const store = new AcceptanceStore(database);
  const emails = Array.from({ length: seed.count }, () => emailOf(database, seed));
  for (let from = 0; from < emails.length; from += EMAILS_PER_GROUP) {
    const call = { workspaceId: seed.workspaceId, emails: emails.slice(from, from + EMAILS_PER_GROUP) };
    const [outcome] = await store.accept([call], null);
    if (outcome?.kind !== 'decided' || outcome.emails.some(({ kind }) => kind !== 'accepted'))
      throw new Error('a seed was refused');
  }
  return emails.map((email) => email.id);
}

function emailOf(database: Database, { workspaceId, lane, to, sendAt }: Seed): AcceptableEmail {
  const acceptedAt = database.clock.now();
  const id = newId('trs', acceptedAt.getTime());
  return {
    id,
    workspaceId,
    type: 'raw',
    status: sendAt === undefined ? 'SENT' : 'SCHEDULED',
    acceptedAt,
    sendAt: sendAt ?? null,
    from: { address: 'sender@example.com' },
    fromDomain: 'example.com',
    to: { address: to },
    replyTo: [],
    subject: 'Seeded',
    messageId: messageIdFor(id, 'example.com'),
    trackClicks: false,
    trackOpens: false,
    unsubscribe: false,
    html: '<p>Seeded</p>',
    text: 'Seeded',
    laneId: lane === 'now' ? nowLane(workspaceId) : bulkLane(workspaceId),
    bytes: 100,
    bytesToAccept: 100,
  };
}
