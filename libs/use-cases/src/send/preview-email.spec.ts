import { expect, it } from '@jest/globals';
import { newId, type WorkspaceId } from '@posthorn/kernel';
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
