import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { opaqueStart } from '@posthorn/domain';
import { countEmails } from './email-counts.ts';
import { emailCountsPage } from './email-counts-page.ts';
import type { EmailCriteria } from './emails-page.ts';

const ACCEPTED = new Date('2026-01-02T03:04:05Z');
const WAITING = {
  id: newId('trs', ACCEPTED.getTime()),
  workspaceId: newId('wrk', 0),
  type: 'raw',
  status: 'SENT',
  from: 'hello@shop.example',
  to: 'ada@example.net',
  subject: 'Hello',
  messageId: '1@shop.example',
  template: null,
  groupBy: null,
  acceptedAt: ACCEPTED,
  sendAt: null,
  sentAt: null,
} as const;
const ANY: EmailCriteria = {
  to: undefined,
  status: undefined,
  workspace: undefined,
  groupBy: undefined,
  class: undefined,
  after: undefined,
  before: undefined,
};

function shown(criteria: Partial<EmailCriteria>, items = [WAITING], searchedTo?: Date): string {
  const startAt = searchedTo === undefined ? null : opaqueStart(newId('trs', searchedTo.getTime()));
  const found = { items, hasMore: startAt !== null, startAt };
  const counts = countEmails(items, new Map());
  const workspaces = { nameOf: () => 'Shop', suggested: [] };
  return emailCountsPage({ criteria: { ...ANY, ...criteria }, found, counts, workspaces }).text;
}

function linksOf(text: string): string[] {
  return [...text.matchAll(/href="\/emails\?([^"]+)"/g)].map(([, query]) => query!.replaceAll('&amp;', '&'));
}

describe('The counts of emails', () => {
  it('lead to no more emails than were counted', () => {
    expect(linksOf(shown({}))).toEqual([
      'status=SENT',
      'status=NOT_LEFT',
      'to=%40example.net',
      `workspace=${WAITING.workspaceId}`,
    ]);
    expect(linksOf(shown({ status: 'NOT_LEFT' })).slice(0, 2)).toEqual([
      'status=NOT_LEFT',
      'status=NOT_LEFT',
    ]);
    expect(linksOf(shown({ status: 'SENT' })).slice(0, 2)).toEqual(['status=SENT', 'status=NOT_LEFT']);
    expect(linksOf(shown({ to: 'ada@example.net' }))[2]).toBe('to=ada%40example.net');
  });

  it('say how far back the search came, also if it found nothing there', () => {
    const searchedTo = new Date('2025-12-24T18:00:00Z');
    for (const items of [[], [WAITING]])
      expect(shown({}, items, searchedTo).replace(/<[^>]+>/g, '')).toMatch(
        new RegExp(`${items.length} or more match[^]*back to\\s+2025-12-24 18:00:00 UTC`),
      );
    expect(shown({})).toContain('1 match.');
  });
});
