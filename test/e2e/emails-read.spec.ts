import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { emailIn } from './api.ts';
import { Stack } from './stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start();
});
afterAll(() => stack.close());

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

describe('GET /v1/emails/{email_id}: 404', () => {
  it('G3: an email of another workspace, like an unknown one', async () => {
    const { id } = emailIn(await stack.send());
    const other = await stack.createTenant('Other');
    const foreign = await stack.api().get(`/v1/emails/${id}`, { key: other.keys.editor });
    const unknown = await stack.api().get('/v1/emails/trs_01h455vb4pex5vsknk084sn02q');
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(unknown.body);
  });

  it.each([
    'trs_',
    'trs_1',
    '1',
    'trs_01h455vb4pex5vsknk084sn02',
    'TRS_01H455VB4PEX5VSKNK084SN02Q',
    'wrk_01h455vb4pex5vsknk084sn02q',
    'trs_81h455vb4pex5vsknk084sn02q',
    '%00',
    '%27%20OR%201=1',
  ])('G3, G8: %s, which is not an id', async (id) => {
    const answer = await stack.api().get(`/v1/emails/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ statusCode: 404, error: 'Not Found' });
  });
});
