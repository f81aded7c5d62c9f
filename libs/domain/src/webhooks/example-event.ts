import type { WorkspaceId } from '@posthorn/kernel';
import type { EmailStatus } from '../email-status.ts';
import { type EventDataOf, type EventName, EVENTS } from '../events/events.ts';

/** The data of a test event: an event of the workspace about fictitious people. */
export function exampleEventData(event: EventName, workspaceId: WorkspaceId): EventDataOf<EventName> {
  const { example } = EVENTS[event].data;
  if ('contact' in example) return { ...example, contact: { ...example.contact, workspaceId } };
  if ('workspace' in example) return { ...example, workspace: { ...example.workspace, id: workspaceId } };
  if ('email' in example) {
    const status = STATUS_AFTER[event as keyof typeof STATUS_AFTER];
    return { email: { ...example.email, ...SENDER, status }, ...EXAMPLE_DETAILS[event] };
  }
  return example;
}

const SENDER = { from: 'shop@example.com', subject: 'Your receipt' };

/** The data of an event beside the email. */
const EXAMPLE_DETAILS: { readonly [Name in EventName]?: Omit<EventDataOf<Name>, 'email'> } = {
  EMAIL_DELAYED: {
    class: 'mailbox_full',
    reply: { code: 452, enhancedCode: '4.2.2', text: 'Mailbox is full' },
  },
  EMAIL_BOUNCED: {
    class: 'unknown_user',
    reply: { code: 550, enhancedCode: '5.1.1', text: 'No such user here' },
  },
  EMAIL_FAILED: {
    class: 'content',
    reply: { code: 554, enhancedCode: '5.6.0', text: 'Message refused' },
  },
  EMAIL_CLICKED: { url: 'https://example.com/shop' },
};

/** The status of the email in each event. */
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
