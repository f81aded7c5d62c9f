import { fromNow } from '../../e2e/times.ts';
import { newRecipient } from '../../e2e/stack.ts';
import { templateIn, validTemplate } from '../../e2e/templates.ts';
import type { ChangingTemplate, Client } from './client.ts';
import { sendKeyed } from './email-operations.ts';

/** Changes a template, and sends with it; it may be changed again or deleted before that email is due. */
export async function sendTemplated(client: Client): Promise<void> {
  const { at, random, history, workspaceId } = client;
  const template = client.templates.get(at) ?? (await createTemplate(client));
  template.version += 1;
  const subject = `Version ${template.version}`;
  const changed = await at.post(`/v1/templates/${template.id}`, { subject }, { key: at.tenant.keys.editor });
  if (!client.expects(changed, 200)) return;
  const wanted = history.want(workspaceId, newRecipient(), { subject });
  const sendAt = random.chance(0.5) ? { sendAt: fromNow(random.between(500, 8_000)) } : {};
  const variables = { firstName: 'Ann' };
  await sendKeyed(client, wanted, { template: template.name, to: wanted.to, variables, ...sendAt });
  if (random.chance(0.2)) await deleteTemplate(client, template);
}

async function deleteTemplate(client: Client, { id }: ChangingTemplate): Promise<void> {
  const { at, templates } = client;
  // 404: the answer to the first request was lost.
  client.expects(await at.delete(`/v1/templates/${id}`, { key: at.tenant.keys.editor }), 200, 404);
  templates.delete(at);
}

/** With another name each time that it has to ask again: the answer may have been lost. */
async function createTemplate(client: Client): Promise<ChangingTemplate> {
  const { at, templates } = client;
  const options = { key: at.tenant.keys.editor };
  const answer = await at.insist((api) => api.post('/v1/templates', validTemplate(), options));
  const { id, name } = templateIn(answer);
  const template = { id, name, version: 0 };
  templates.set(at, template);
  return template;
}
