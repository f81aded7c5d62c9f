import { describe, expect, it } from '@jest/globals';
import { OwedMails } from './owed-mails.ts';

describe('OwedMails', () => {
  it('hands over the other kinds of mails when polling for one of them fails', async () => {
    const [errors, looked]: [unknown[], string[]] = [[], []];
    const away = new Error('this kind cannot be read');
    const owedMails = new OwedMails(
      [
        { handOverOwed: () => Promise.reject(away) },
        { handOverOwed: () => Promise.resolve(looked.push('the other kind')) },
      ],
      (error) => errors.push(error),
    );
    owedMails.onApplicationBootstrap();
    await owedMails.close();
    expect({ errors, looked }).toEqual({ errors: [away], looked: ['the other kind'] });
  });
});
