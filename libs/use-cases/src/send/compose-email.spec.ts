import { describe, expect, it } from '@jest/globals';
import type { ComposableEmail } from '@posthorn/database';
import { claimedEmail } from './claimed-email.fixture.ts';
import { ComposeEmail } from './compose-email.ts';

function emailOf(characters: number): ComposableEmail {
  const html = 'x'.repeat(characters);
  return claimedEmail({ content: { type: 'raw', subject: 's', html, text: 't', previewText: null } });
}

const never = (): never => {
  throw new Error('not asked for');
};

const composer = new ComposeEmail({
  htmlToText: { convert: never },
  versions: { find: never },
  renderer: { render: never },
  signingKeys: { find: () => Promise.resolve({ signers: [] }) },
  unsubscribeLinks: { urlOf: never, mailtoOf: never },
  feedbackSenderId: undefined,
  tracking: { track: (_email, html) => Promise.resolve(html) },
});

/** The turn of the event loop in which each was composed. */
async function turnsOf(emails: readonly ComposableEmail[]): Promise<number[]> {
  let turn = 0;
  let isDone = false;
  const count = (): void => {
    turn += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(emails.map((email) => composer.compose(email).then(() => turn)));
  isDone = true;
  return turns;
}

describe('Emails that are ready to be composed at once', () => {
  it('are composed one by one where they are large, so that other work runs between them', async () => {
    const turns = await turnsOf([1, 2, 3, 4].map(() => emailOf(300_000)));
    expect(new Set(turns).size).toBe(4);
  });

  it('are composed together where they are not', async () => {
    expect(new Set(await turnsOf([1, 2, 3, 4].map(() => emailOf(3_000)))).size).toBe(1);
  });
});
