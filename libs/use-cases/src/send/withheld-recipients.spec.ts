import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type EmailId, newId, suspensionProofNowMs } from '@posthorn/kernel';
import type { WithheldReason } from '@posthorn/domain';
import { WithheldRecipients } from './withheld-recipients.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

describe('Whether a recipient may be written to', () => {
  const id = newId('trs', 0);

  /** The answer for an email that was claimed a time ago, and the recipients that were looked up again. */
  async function answerTo(
    withheldFor: WithheldReason | null,
    ageMs: number,
    sleptMs = 0,
  ): Promise<{ why: WithheldReason | null; asked: EmailId[] }> {
    const asked: EmailId[] = [];
    const recipients = new WithheldRecipients({
      askWhyWithheld: (ids) => {
        asked.push(...ids);
        return Promise.resolve(ids.map(() => 'manual' as const));
      },
    });
    const askedAtMs = suspensionProofNowMs() - ageMs;
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + sleptMs);
    return { why: await recipients.whyWithheld({ id, withheldFor, askedAtMs }), asked };
  }

  it('is taken from the claim while that is recent', async () => {
    expect(await answerTo(null, 0)).toEqual({ why: null, asked: [] });
  });

  it('is looked up again when the claim is a second old: it may have changed while the email waited', async () => {
    expect(await answerTo(null, 1_000)).toEqual({ why: 'manual', asked: [id] });
  });

  it('is looked up again when this machine has slept since the claim', async () => {
    expect(await answerTo(null, 0, 60_000)).toEqual({ why: 'manual', asked: [id] });
  });

  it('is not looked up again when the claim withheld the recipient', async () => {
    expect(await answerTo('unsubscribed', 60_000)).toEqual({ why: 'unsubscribed', asked: [] });
  });
});
