import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import type { AcceptableRawEmail } from '../acceptance/acceptable-email.ts';
import { EmailStore } from './email-store.ts';
import { rawEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';

const stores = await openTestStores();
const emails = new EmailStore(stores.database);
const acme = await stores.openWorkspace();

const rich: Partial<AcceptableRawEmail> = {
  from: { address: 'hello@example.com', name: 'Shop' },
  to: { address: 'ada@example.net', name: 'Ada' },
  replyTo: [{ address: 'help@example.com' }],
  sendAt: new Date(Date.now() - 60_000),
  text: 'plain',
  previewText: 'peek',
};

describe('The input for composing', () => {
  it.each([
    ['a plain', {}],
    ['a rich', rich],
  ])('S18: is the same for previewing %s email as for sending it', async (_kind, change) => {
    const email = rawEmail(acme, change);
    await stores.accept([email], null);
    await stores.makeReady();
    const shown = await emails.findComposable(acme, email.id);
    const [claimed] = await stores.outbox.claimEmails([{ laneId: email.laneId, maxRows: 1 }], 1e9, 60_000);
    const { laneId: _l, claims: _c, attempts: _a, bytes: _b, laneHasMore: _m, ...asked } = claimed!;
    const { withheldFor: _w, askedAtMs: _t, traceparent: _p, ...composition } = asked;
    expect(shown).toEqual(composition);
    expect(await emails.findComposable(acme, email.id)).toEqual(shown);
  });

  it('S3: of a templated email is its pinned version and its variables, as they were written', async () => {
    const variables = { 'z': 1, 'a"\\\n': [1.5, null], 'b': { é: 'x' } };
    const { subject: _s, html: _h, ...traits } = rawEmail(acme);
    const templateVersionId = newId('tpv', Date.now());
    const email = {
      ...traits,
      type: 'templated',
      template: 'welcome',
      templateVersionId,
      variables,
    } as const;
    await stores.accept([email], null);
    const shown = await emails.findComposable(acme, email.id);
    expect(shown!.content).toEqual({
      type: 'templated',
      templateVersionId,
      variables: JSON.stringify(variables),
    });
    const [claimed] = await stores.outbox.claimEmails([{ laneId: email.laneId, maxRows: 1 }], 1e9, 60_000);
    expect(claimed!.content).toEqual(shown!.content);
  });

  it('S18, G3: is undefined for another workspace, and for an email that does not exist', async () => {
    const [id] = await stores.acceptEmails(acme, 1);
    expect(await emails.findComposable(await stores.openWorkspace(), id!)).toBeUndefined();
    expect(await emails.findComposable(acme, newId('trs', Date.now()))).toBeUndefined();
  });
});
