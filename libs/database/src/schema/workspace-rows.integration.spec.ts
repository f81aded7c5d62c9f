import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { executedPlan, pagesTouched } from '../sql/plan.fixture.ts';
import { CONTENTS, nextOfWorkspace } from './workspace-rows.ts';

const EMAILS = 10;

const stores = await openTestStores();

it('Contents are found in groups of some megabytes, all of them once, without reading attachments', async () => {
  const acme = await stores.openWorkspace();
  const ids = (await stores.acceptEmails(acme, EMAILS)).map(uuidOf);
  const attachments = JSON.stringify([{ content: randomBytes(750_000).toString('base64') }]);
  await stores.ask('UPDATE email_contents SET attachments = $1', [attachments]);
  const found: string[] = [];
  const sizes: number[] = [];
  for (let start: string[] = []; ; start = [found.at(-1)!]) {
    const text = nextOfWorkspace(CONTENTS, start.length === 0);
    const values = [uuidOf(acme), 2_000, ...start];
    expect(pagesTouched(await executedPlan(stores.database.pool, { text, values }))).toBeLessThan(200);
    const group = await stores.ask<{ ids: string[] }>(text, values);
    if (group.length === 0) break;
    found.push(...group.flatMap((row) => row.ids));
    sizes.push(group.length);
  }
  expect(found).toEqual(ids);
  expect(sizes).toEqual([5, 5]);
});
