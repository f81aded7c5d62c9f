import { expect, it } from '@jest/globals';
import { newId, type WorkspaceId } from '@posthorn/kernel';
import type { ComposableEmail } from '@posthorn/database';
import { RenderingFailed } from '@posthorn/rendering';
import { PreviewEmail } from './preview-email.ts';

it('makes the preview of one workspace at once, however many previews of another are waiting', async () => {
  const [flooding, other] = [newId('wrk', Date.now()), newId('wrk', Date.now())];
  const asked: WorkspaceId[] = [];
  const finish: (() => void)[] = [];
  const previewEmail = new PreviewEmail({
    emails: {
      findComposable: async (workspaceId) => {
        asked.push(workspaceId);
        await new Promise<void>((resolve) => finish.push(resolve));
        return undefined;
      },
      find: () => Promise.resolve(undefined),
    },
    composer: { composeWithSource: () => Promise.reject(new Error('there is nothing to compose')) },
  });
  const preview = (workspaceId: WorkspaceId): Promise<unknown> =>
    previewEmail.preview(workspaceId, newId('trs', Date.now()));
  const flood = Array.from({ length: 100 }, () => preview(flooding).catch(() => undefined));
  const own = preview(other);
  await new Promise(setImmediate);
  expect(asked).toEqual([flooding, other]);
  while (finish.length > 0) {
    finish.shift()!();
    await new Promise(setImmediate);
  }
  expect(await own).toBeUndefined();
  await Promise.all(flood);
});

it.each([
  ['busy', 'Too many previews are being made; try again in a moment'],
  [
    'deadline',
    'No message could be made of the email: making the text took too long; try again in a moment, and send shorter or simpler HTML if that does not help',
  ],
] as const)('says what prevented a preview: %s', async (reason, message) => {
  const failure = new RenderingFailed(reason, 'making the text took too long');
  const previewEmail = new PreviewEmail({
    emails: {
      findComposable: () => Promise.resolve({} as ComposableEmail),
      find: () => Promise.resolve(undefined),
    },
    composer: { composeWithSource: () => Promise.reject(failure) },
  });
  await expect(
    previewEmail.preview(newId('wrk', Date.now()), newId('trs', Date.now())),
  ).rejects.toMatchObject({ statusCode: 503, message });
});
