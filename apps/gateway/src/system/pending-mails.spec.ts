import { describe, expect, it } from '@jest/globals';
import { PendingMails } from './pending-mails.ts';

describe('PendingMails', () => {
  it('hands over the other kinds of mails when polling for one of them fails', async () => {
    const [errors, looked]: [unknown[], string[]] = [[], []];
    const away = new Error('this kind cannot be read');
    const pendingMails = new PendingMails(
      [
        { submitPending: () => Promise.reject(away) },
        { submitPending: () => Promise.resolve(looked.push('the other kind')) },
      ],
      (error) => errors.push(error),
    );
    pendingMails.onApplicationBootstrap();
    await pendingMails.close();
    expect({ errors, looked }).toEqual({ errors: [away], looked: ['the other kind'] });
  });
});
