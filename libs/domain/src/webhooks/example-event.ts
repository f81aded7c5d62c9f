import { type WorkspaceId } from '@posthorn/kernel';
import { type EmailStatus } from '../email-status.ts';
import { type EventDataOf, type EventName, EVENTS } from '../events/events.ts';

/** What a webhook is tried with: an event that could have happened in the workspace, to people who are not there. */
export function exampleEventData(event: EventName, workspaceId: WorkspaceId): EventDataOf<EventName> {
  const { example } = EVENTS[event].data;
  if ('contact' in example) return { ...example, contact: { ...example.contact, workspaceId } };
  if ('workspace' in example) return { ...example, workspace: { ...example.workspace, id: workspaceId } };
  const status = STATUS_AFTER[event as keyof typeof STATUS_AFTER];
  return { email: { ...example.email, ...SENDER, status } };
}

const SENDER = { from: 'shop@example.com', subject: 'Your receipt' };

/** As which an email is shown when it is told of. */
const STATUS_AFTER: Readonly<Record<Extract<EventName, `EMAIL_${string}`>, EmailStatus>> = {
  EMAIL_SENT: 'SENT',
  EMAIL_DELIVERED: 'DELIVERED',
  EMAIL_DELAYED: 'SENT',
  EMAIL_BOUNCED: 'BOUNCED',
  EMAIL_COMPLAINED: 'COMPLAINED',
  EMAIL_FAILED: 'FAILED',
  EMAIL_OPENED: 'DELIVERED',
  EMAIL_CLICKED: 'DELIVERED',
};
