import { IdentityStore, SealedSecretStore, WorkspaceStore } from '@posthorn/database';
import { parseKeyRing, SecretBox } from '@posthorn/signing';
import { addIdentity, limitWorkspace, rotateSecrets as rotate } from '@posthorn/use-cases/operate';
import { newRecipient, TESTS, validEmail } from '../../e2e/stack.ts';
import { fromNow } from '../../e2e/times.ts';
import { sendKeyed } from './email-operations.ts';
import { insist } from './insist.ts';
import type { Operator } from './operators.ts';

/** Re-encrypts all secrets with the one key or the other, while clients make new ones. */
export async function rotateSecrets({ cluster, random, history }: Operator): Promise<void> {
  const parsed = parseKeyRing(random.pick(cluster.keyRings));
  if ('fault' in parsed) throw new Error(parsed.fault);
  const box = new SecretBox(parsed.ring);
  const secrets = new SealedSecretStore(cluster.stack.database);
  await insist(() =>
    rotate(secrets, TESTS, box).catch((error: Error) => {
      if (error.message.includes('could not be')) history.wrong.push(error.message);
      else throw error;
    }),
  );
}

/** Gives a workspace other limits; that of its emails is never more than what was agreed. */
export async function limit({ cluster, random, at, workspaceId }: Operator): Promise<void> {
  const rates = { ratePerSecond: random.between(1_000, 9_000), rateBurst: random.between(2_000, 9_000) };
  const monthly =
    at.limit === null ? {} : { monthlyEmailLimit: random.between(Math.ceil(at.limit / 2), at.limit) };
  const store = new WorkspaceStore(cluster.stack.database);
  await insist(() => limitWorkspace(store, workspaceId, TESTS, { ...rates, ...monthly }));
}

/** Lets a workspace send from an address that it loses before its email is due: the email leaves. */
export async function lendIdentity(operator: Operator): Promise<void> {
  const { cluster, at, history, random, workspaceId } = operator;
  const from = newRecipient();
  const store = new IdentityStore(cluster.stack.database);
  const { id } = await insist(() =>
    addIdentity(store, workspaceId, TESTS, { address: from, verified: true }),
  );
  const sendAt = fromNow(random.between(500, 5_000));
  const email = { ...validEmail(), from, sendAt };
  await sendKeyed(operator, history.want(workspaceId, email.to), email);
  const answer = await at.delete(`/v1/identities/${id}`, { key: at.tenant.keys.editor });
  // 404: the answer to the first request was lost.
  history.expects(answer, 200, 404);
}

/** Puts an address on the suppression list, may take it off again, and sends to it. */
export async function suppress(operator: Operator): Promise<void> {
  const { browsers, at, history, random, workspaceId } = operator;
  const email = newRecipient();
  await browsers.submit('/suppressions', { email, workspace: workspaceId, reason: 'MANUAL' }, [303]);
  const isUnwanted = random.chance(0.5);
  if (!isUnwanted) {
    const { items } = (await at.get(`/v1/suppressions?email=${email}`)).body['suppressions'] as {
      items: { id: string }[];
    };
    if (items.length !== 1) history.wrong.push(`${email} is on the list ${items.length} times`);
    for (const { id } of items) await browsers.submit(`/suppressions/${id}/remove`, {}, [303]);
  }
  await sendKeyed(operator, history.want(workspaceId, email, { isUnwanted }), { ...validEmail(), to: email });
}

/** Sends a delivery again, or all that failed lately. */
export async function redeliver({ browsers, at, random }: Operator): Promise<void> {
  const id = random.pick(at.webhookIds);
  if (random.chance(0.5)) {
    // 409: a recovery of another time runs.
    await browsers.submit(`/webhooks/${id}/recover`, { since: fromNow(-60_000) }, [303, 409]);
    return;
  }
  const { items } = (await at.get(`/v1/webhooks/${id}/deliveries`)).body['deliveries'] as {
    items: { id: string }[];
  };
  if (items.length === 0) return;
  const path = `/webhooks/${id}/deliveries/${random.pick(items).id}/redeliver`;
  // 409: it is under way.
  await browsers.submit(path, {}, [303, 409]);
}
