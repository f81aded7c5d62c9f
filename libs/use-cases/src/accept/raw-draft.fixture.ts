import type { RawEmailDraft } from '@posthorn/domain';

/** A raw email from a@example.com; `change` replaces some of it. */
export function rawDraft(change: Partial<RawEmailDraft> = {}): RawEmailDraft {
  return {
    type: 'raw',
    from: { address: 'a@example.com' },
    to: { address: 'b@example.net' },
    replyTo: [],
    subject: 'Hello',
    html: '<p>Hello</p>',
    trackClicks: true,
    trackOpens: false,
    fingerprintSource: {},
    ...change,
  };
}
