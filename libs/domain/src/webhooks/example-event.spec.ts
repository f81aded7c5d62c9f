import { expect, it } from '@jest/globals';
import type { WorkspaceId } from '@posthorn/kernel';
import { EVENT_NAMES } from '../events/events.ts';
import { exampleEventData } from './example-event.ts';

const WORKSPACE = 'wrk_01k9zq7v3nf4b8gq2m5c6d7e8f' as WorkspaceId;

it('W10: test events are of the workspace, and their emails have the status that fits the event', () => {
  for (const name of EVENT_NAMES) {
    const data = exampleEventData(name, WORKSPACE);
    if ('contact' in data) expect(data.contact.workspaceId).toBe(WORKSPACE);
    else if ('workspace' in data) expect(data.workspace.id).toBe(WORKSPACE);
    else if ('email' in data) expect(data.email).toMatchObject({ type: 'raw', from: 'shop@example.com' });
  }
  expect(exampleEventData('EMAIL_BOUNCED', WORKSPACE)).toMatchObject({ email: { status: 'BOUNCED' } });
  expect(exampleEventData('CONTACT_UPDATED', WORKSPACE)).toHaveProperty('changes');
});
