import { describe, expect, it } from '@jest/globals';
import { emailIn } from './api.ts';
import { Stack } from './stack.ts';

const stack = Stack.forTests();

describe('GET /v1/emails/{email_id}: 200', () => {
  it('E14, S18, G8, G9: shows the email with its timeline', async () => {
    const sent = emailIn(await stack.send({ groupBy: 'summer' }));
    await stack.onlyMailTo(sent.to);
    const shown = await stack.show(sent.id);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(shown).toMatchObject({ ...sent, createdAt: time, sendAt: null, sentAt: time });
    expect(shown.timeline).toMatchObject([
      { event: 'ACCEPTED', createdAt: shown.createdAt },
      { event: 'SENT', createdAt: shown.sentAt, attempt: 1, reply: { code: 250 } },
    ]);
  });

  it('K2, A3: lets a VIEWER read', async () => {
    const { id } = emailIn(await stack.send());
    const { viewer: key } = stack.tenant.keys;
    expect((await stack.api().get(`/v1/emails/${id}`, { key })).status).toBe(200);
  });
});
