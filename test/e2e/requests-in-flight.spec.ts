import { expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { type Answer, emailIn } from './api.ts';
import { newRecipient, Stack, until } from './stack.ts';

const stack = Stack.forTests({ sends: false, env: { MAX_REQUESTS_IN_FLIGHT: '10' } });

const OF_YOURS = 'Too many requests of yours are being processed; try again in a moment';
const EMAIL = { from: 'a@example.com', to: 'b@example.net', subject: 'Hello', html: '<p>Hello</p>' };

it('a workspace whose requests do not get on leaves a tenth of those in flight to the others', async () => {
  const api = stack.api();
  const other = stack.apiAs((await stack.createTenant('Other')).keys.apiUser);
  expect((await api.post('/v1/emails', EMAIL)).status).toBe(200);
  // Another program holds the row that all of the workspace's emails wait for.
  const holder = await stack.database.pool.connect();
  await holder.query('BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0');
  await holder.query('SELECT FROM usage WHERE workspace_id = $1 FOR UPDATE', [
    uuidOf(stack.tenant.workspaceId),
  ]);
  const waiting: Promise<Answer>[] = [];
  let open = 0;
  const isFull = async (): Promise<boolean> => {
    // Those that have waited too long are replaced.
    for (; open < 9; open += 1) waiting.push(api.post('/v1/emails', EMAIL).finally(() => (open -= 1)));
    return (await api.get('/v1/api-keys/check')).body['message'] === OF_YOURS;
  };
  await until(isFull, 'the workspace has all that it may have');
  const ofOther = await other.get('/v1/api-keys/check');
  await holder.query('ROLLBACK');
  holder.release();
  await Promise.all(waiting);
  expect(ofOther.status).toBe(200);
  expect((await api.get('/v1/api-keys/check')).status).toBe(200);
});

it('a network whose requests by links in mails do not get on leaves a tenth of those in flight to the others', async () => {
  const api = stack.api();
  const to = newRecipient();
  const unsubscribing = { ...EMAIL, to, html: '{{unsubscribeUrl}}', settings: { unsubscribe: true } };
  const { id } = emailIn(await api.post('/v1/emails', { ...unsubscribing, contactProperties: {} }));
  const preview = await api.get(`/v1/emails/${id}/preview`);
  const [link] = /\/unsubscribe\/phu_[\w-]+/.exec(JSON.stringify(preview.body))!;
  const visit = (method: 'GET' | 'POST'): Promise<Answer> =>
    api.request(method, link, undefined, { key: null });
  // Another program holds the row of the contact.
  const holder = await stack.database.pool.connect();
  await holder.query('BEGIN; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0');
  await holder.query('SELECT FROM contacts WHERE email = $1 FOR UPDATE', [to]);
  const waiting: Promise<Answer>[] = [];
  let open = 0;
  const isFull = async (): Promise<boolean> => {
    for (; open < 9; open += 1) waiting.push(visit('POST').finally(() => (open -= 1)));
    return (await visit('GET')).body['message'] === OF_YOURS;
  };
  await until(isFull, 'the network has all that it may have');
  const withKey = await api.get('/v1/api-keys/check');
  await holder.query('ROLLBACK');
  holder.release();
  await Promise.all(waiting);
  expect(withKey.status).toBe(200);
  expect((await visit('GET')).status).toBe(200);
});
