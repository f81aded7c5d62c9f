import { validEmail } from '../../e2e/stack.ts';
import { fromNow } from '../../e2e/times.ts';
import type { Client } from './client.ts';
import { sendKeyed } from './email-operations.ts';

/** Sends with a key that is deleted before the email is due: the email is sent, and nobody gets in with that key any more. */
export async function useShortLivedKey(client: Client): Promise<void> {
  const { at, random, history, workspaceId } = client;
  const editor = { key: at.tenant.keys.editor };
  const path = `/v1/workspaces/${workspaceId}/api-keys`;
  const created = await at.post(path, { displayName: 'Short-lived' }, editor);
  // 409: there are too many, because the answers to their creation were lost.
  if (created.status === 409 || !client.expects(created, 200)) return;
  const { id, secretKey: key } = created.body['apiKey'] as { id: string; secretKey: string };
  const email = { ...validEmail(), sendAt: fromNow(random.between(500, 5_000)) };
  await sendKeyed(client, history.want(workspaceId, email.to), email, { key });
  // 404: the answer to the first request was lost.
  client.expects(await at.delete(`${path}/${id}`, editor), 200, 404);
  for (const gateway of [0, 1]) {
    const answer = await at.caller.once((api) => api.get('/v1/api-keys/check', { key }), gateway);
    if (answer !== undefined) client.expects(answer, 401);
  }
}
