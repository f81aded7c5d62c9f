import { describe, expect, it } from '@jest/globals';
import { SENDING_COMMANDS } from './sending.mjs';

const { show } = SENDING_COMMANDS.find(({ name }) => name === 'status')!;

describe('The status of sending', () => {
  it('says of a count that ended at its limit that there may be more', () => {
    const emails = { countedTo: 1_000, due: 1_000, waiting: 999, isMoreWaiting: false, taken: 0 };
    const shown = (of: typeof emails): string =>
      show({ pauses: [], lanesWithDueEmails: 1, emails: of, restoration: null }, {});
    expect(shown(emails)).toContain('Emails: 1000 or more due, 999 waiting for their time, 0 being sent\n');
    expect(shown({ ...emails, isMoreWaiting: true })).toContain(' due, 999 or more waiting for their time,');
  });

  it('says that only a part of what a restored database has was counted', () => {
    const emails = { countedTo: 1_000, due: 0, waiting: 0, isMoreWaiting: false, taken: 0 };
    const shown = (areAll: boolean): string =>
      show(
        {
          pauses: [],
          lanesWithDueEmails: 0,
          emails,
          restoration: {
            heldSince: new Date(60_000),
            dumpedAt: new Date(0),
            counted: { queues: [{ queue: 'email', dueBefore: 2, dueSince: 3, later: 4 }], areAll },
          },
        },
        {},
      );
    expect(shown(false)).toMatch(/^email +2 +3 +4\nThere are more: only a part was counted\.\n/m);
    expect(shown(true)).not.toContain('There are more');
  });
});
