import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { EVENT_NAMES } from '@posthorn/domain';
import { uuidOf } from '@posthorn/kernel';
import type { Api, Answer } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { newRecipient, validEmail, Stack, type Tenant } from './stack.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const contract = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');

const stack = Stack.forTests({ sends: false });
let tenant: Tenant;
beforeAll(() => {
  tenant = stack.tenant;
});

const api = (): Api => stack.apiAs(tenant.keys.editor);

/** The event names in a rule of the contract. */
function namesIn(rule: 'N1' | 'W12'): string[] {
  const section = new RegExp(`^### ${rule} .*\\n([^]*?)(?=^#)`, 'm').exec(contract)![1]!;
  return [...new Set([...section.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name]) => name!))];
}

let readBefore = 0;

/** The payloads of a workspace's events since the last call: exactly the stored bytes that are posted. */
async function newPayloads(): Promise<Record<string, unknown>[]> {
  const { rows } = await stack.database.pool.query<{ payload: string }>(
    'SELECT payload FROM events WHERE workspace_id = $1 ORDER BY xid, id OFFSET $2',
    [uuidOf(tenant.workspaceId), readBefore],
  );
  readBefore += rows.length;
  return rows.map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
}

async function done(answer: Promise<Answer>): Promise<Answer> {
  const { status, text } = await answer;
  expect([status, text]).toEqual([200, expect.anything()]);
  return answer;
}

describe('N1: the names of events', () => {
  const names = [...namesIn('N1'), ...namesIn('W12')];

  it('are those that a webhook can subscribe to, all at once and each alone', async () => {
    expect(names).toEqual(EVENT_NAMES);
    const url = 'https://example.com/hook';
    const { body } = await done(api().post('/v1/webhooks', { url, events: names }));
    expect(body['webhook']).toMatchObject({ events: names });
    for (const name of names) await done(api().post('/v1/webhooks', { url, events: [name] }));
  });

  it('are no others', async () => {
    const url = 'https://example.com/hook';
    for (const name of ['contact_created', 'CAMPAIGN_SENT', 'EMAIL_SPAM', '*', 'constructor', 'CONTACT']) {
      const refused = await api().post('/v1/webhooks', { url, events: [names[0], name] });
      expectRefusal(refused, 400, '`events[1]`');
    }
  });
});

describe('N2, N3: the payload of events about a contact', () => {
  it('is `event`, `createdAt` and `data`, with the contact as it is then, at all five events', async () => {
    const email = newRecipient();
    await done(api().post('/v1/emails', { ...validEmail(), to: email, contactProperties: { plan: 'free' } }));
    const { items } = (await done(api().get('/v1/contacts'))).body['contacts'] as {
      items: [{ id: string; createdAt: string }];
    };
    const [{ id, createdAt }] = items;
    const posted = (event: string, properties: object, more: object = {}): object => {
      const contact = { id, email, properties, createdAt, workspaceId: tenant.workspaceId };
      return { event, createdAt: TIME, data: { contact, ...more } };
    };
    const path = `/v1/contacts/${id}`;
    expect(id).toMatch(/^ctc_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(await newPayloads()).toEqual([posted('CONTACT_CREATED', { plan: 'free' })]);

    await done(api().post(path, { properties: { plan: 'pro' } }));
    expect(await newPayloads()).toEqual([
      posted('CONTACT_UPDATED', { plan: 'pro' }, { changes: { plan: 'pro' } }),
    ]);

    await done(api().post(`${path}/unsubscribe`, {}));
    expect(await newPayloads()).toEqual([posted('CONTACT_UNSUBSCRIBED', { plan: 'pro' })]);
    await done(api().post(`${path}/resubscribe`, {}));
    expect(await newPayloads()).toEqual([posted('CONTACT_RESUBSCRIBED', { plan: 'pro' })]);
    await done(api().request('DELETE', path, undefined));
    expect(await newPayloads()).toEqual([posted('CONTACT_DELETED', { plan: 'pro' })]);
  });
});
