import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { PreviewEmail } from './preview-email.ts';

describe('PreviewEmail', () => {
  it('G2: tells callers to ask again when the database is lost while the message is made', async () => {
    const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
    const previews = new PreviewEmail({
      emails: {
        findComposable: () => Promise.resolve({ replyTo: [] } as never),
        find: () => Promise.reject(lost),
      },
      composer: { composeWithSource: () => Promise.reject(lost) },
    });
    const preview = previews.preview(newId('wrk', Date.now()), newId('trs', Date.now()));
    await expect(preview).rejects.toMatchObject({ statusCode: 503, details: { retryAfterSeconds: 2 } });
  });
});
