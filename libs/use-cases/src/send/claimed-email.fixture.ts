import { newId } from '@posthorn/kernel';
import { nowLane } from '@posthorn/domain';
import type { ClaimedEmail } from '@posthorn/database';

/** A raw email to b@example.com that is being sent; `change` replaces some of it. */
export function claimedEmail(change: Partial<ClaimedEmail> = {}): ClaimedEmail {
  const workspaceId = newId('wrk', 0);
  return {
    id: newId('trs', 0),
    workspaceId,
    laneId: nowLane(workspaceId),
    claims: 3,
    attempts: 0,
    bytes: 1,
    laneHasMore: false,
    withheldFor: null,
    askedAtMs: 0,
    traceparent: null,
    from: { address: 'a@example.com' },
    to: { address: 'b@example.com' },
    replyTo: [],
    messageId: 'm@example.com',
    fellDueAt: new Date(0),
    unsubscribe: false,
    trackClicks: false,
    trackOpens: false,
    trackingUrl: null,
    content: { type: 'raw', subject: 's', html: 'h', text: 't', previewText: null },
    attachments: [],
    ...change,
  };
}
