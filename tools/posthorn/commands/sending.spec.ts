import { describe, expect, it } from '@jest/globals';
import { SENDING_COMMANDS } from './sending.mjs';

const { show } = SENDING_COMMANDS.find(({ name }) => name === 'status')!;

describe('The status of sending', () => {
  it('says of a count that ended at its limit that there may be more', () => {
    const emails = { countedTo: 1_000, due: 1_000, waiting: 999, taken: 0 };
    expect(show({ pauses: [], lanesWithDueEmails: 1, emails, restoration: null }, {})).toContain(
      'Emails: 1000 or more due, 999 waiting for their time, 0 being sent\n',
    );
  });
});
