import { AcceptanceStore, type AcceptableEmail, type Database } from '@posthorn/database';
import { type LaneId, messageIdFor } from '@posthorn/domain';
import { newId, uuidOf, type WorkspaceId } from '@posthorn/kernel';

/** Few enough for a slow machine to accept them within the time of a statement. */
const EMAILS_PER_CALL = 200;

interface Wanted {
  readonly workspaceId: WorkspaceId;
  readonly laneId: LaneId;
  /** How long from now they are due. */
  readonly dueInMs: number;
  readonly count?: number;
  readonly to?: string;
}

/** Accepts scheduled emails. @returns their ids in the database */
export async function scheduleEmails(database: Database, wanted: Wanted): Promise<string[]> {
  const { workspaceId, count = 1 } = wanted;
  const emails = Array.from({ length: count }, () => scheduledEmail(wanted));
  const store = new AcceptanceStore(database);
  for (let from = 0; from < count; from += EMAILS_PER_CALL)
    await store.accept([{ workspaceId, emails: emails.slice(from, from + EMAILS_PER_CALL) }], null);
  return emails.map(({ id }) => uuidOf(id));
}

function scheduledEmail({ workspaceId, laneId, dueInMs, to = 'a@b.example' }: Wanted): AcceptableEmail {
  const id = newId('trs', Date.now());
  return {
    id,
    workspaceId,
    type: 'raw',
    status: 'SCHEDULED',
    acceptedAt: new Date(),
    sendAt: new Date(Date.now() + dueInMs),
    from: { address: 'sender@example.com' },
    fromDomain: 'example.com',
    to: { address: to },
    replyTo: [],
    subject: 'Hello',
    html: '<p>Hello</p>',
    messageId: messageIdFor(id, 'example.com'),
    trackClicks: false,
    trackOpens: false,
    unsubscribe: false,
    laneId,
    bytes: 100,
    bytesToAccept: 100,
  };
}
