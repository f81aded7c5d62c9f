import { randomUUID } from 'node:crypto';
import { fromNow } from '../../e2e/times.ts';
import type { WantedEmail } from './history.ts';
import type { Operator } from './operators.ts';

/** So many of the newest emails are acted on: older ones are decided. */
const NEWEST = 30;
/** For so long after its time an email may not have been claimed yet. */
const CLAIMED_WITHIN_MS = 500;
const COPY = /^\/emails\/(trs_\w+)\?done=again$/;

/** Sends an email again, whatever became of it. */
export async function sendAgain(operator: Operator): Promise<void> {
  const wanted = pickOne(operator, ({ workspaceId }) => workspaceId === operator.workspaceId);
  if (wanted === undefined) return;
  const path = `/emails/${wanted.accepted!.id}/again`;
  const fields = { reason: 'It was deleted', wish: randomUUID() };
  // 409: it is still being sent. 400: its template was deleted.
  const refusals = [400, 409, ...(operator.at.limit === null ? [] : [403])];
  const pages = await operator.browsers.submit(path, fields, [303, ...refusals]);
  const copies = pages.flatMap(({ headers }) => COPY.exec(headers.get('location') ?? '')?.[1] ?? []);
  if (new Set(copies).size > 1) operator.history.wrong.push(`${path} has made ${copies.join(' and ')}`);
  for (const copy of copies) operator.history.copies.set(copy, wanted);
}

/** Cancels a scheduled email, which its client may be moving or cancelling, or which is being sent. */
export async function cancelOne(operator: Operator): Promise<void> {
  const wanted = pickOne(operator, isAboutToLeave);
  if (wanted === undefined) return;
  const path = `/emails/${wanted.accepted!.id}/cancel`;
  const pages = await operator.browsers.submit(path, {}, [303, 409]);
  if (pages.some(({ status }) => status === 303)) wanted.isCancelled = true;
}

/** Moves a scheduled email, in the same way. */
export async function moveOne(operator: Operator): Promise<void> {
  const wanted = pickOne(operator, isAboutToLeave);
  if (wanted === undefined) return;
  const { id } = wanted.accepted!;
  const fields = { sendAt: fromNow(operator.random.between(-2_000, 8_000)) };
  const pages = await operator.browsers.submit(`/emails/${id}/move`, fields, [303, 409]);
  if (pages.some(({ status }) => status === 303)) operator.history.moved.add(id);
}

function isAboutToLeave({ sendAt }: WantedEmail): boolean {
  return sendAt !== undefined && Date.parse(sendAt) > Date.now() - CLAIMED_WITHIN_MS;
}

function pickOne(
  { history, random }: Operator,
  isMeant: (email: WantedEmail) => boolean,
): WantedEmail | undefined {
  const meant = [...history.emails.values()].filter(
    (email) => email.accepted !== undefined && isMeant(email),
  );
  return meant.length === 0 ? undefined : random.pick(meant.slice(-NEWEST));
}
