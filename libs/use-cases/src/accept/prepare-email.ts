import { type DatabaseClock, newId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import {
  bulkLane,
  canonicalJson,
  domainOf,
  messageIdFor,
  nowLane,
  parseSendAt,
  type RawEmailDraft,
} from '@posthorn/domain';
import { type AcceptableEmail, type IdempotencyClaim } from '@posthorn/database';
import { fingerprint } from '@posthorn/signing';
import { emailAnswer } from './email-answer.ts';

const IDEMPOTENCY_KEPT_MS = 30 * 24 * 3_600_000;
/** What a composed message needs beside the parts that the caller gave: encoding, and HTML that text is made from. */
const WORKING_SPACE_FACTOR = 3;

/**
 * Turns a draft into what is written: its id, its Message-ID, its lane and time, and the answer that its call gets.
 *
 * @throws Refusal (400) when `sendAt` is not possible at the database's time
 */
export function prepareEmail(
  workspaceId: WorkspaceId,
  draft: RawEmailDraft,
  clock: DatabaseClock,
): AcceptableEmail {
  const acceptedAt = clock.now();
  const sendAt = judgeSendAt(draft.sendAt, acceptedAt);
  const id = newId('trs', acceptedAt.getTime());
  const fromDomain = domainOf(draft.from.address);
  const messageId = messageIdFor(id, fromDomain);
  const status = sendAt === null ? 'SENT' : 'SCHEDULED';
  const { type, from, to, replyTo, subject, html, text, previewText, contactProperties, groupBy } = draft;
  const { trackClicks, trackOpens } = draft;
  return {
    ...{ id, workspaceId, type, status, from, fromDomain, to, replyTo, subject, messageId, groupBy },
    ...{ trackClicks, trackOpens, html, text, previewText, contactProperties, sendAt, acceptedAt },
    laneId: sendAt === null ? nowLane(workspaceId) : bulkLane(workspaceId),
    bytes: (html.length + (text?.length ?? 0)) * WORKING_SPACE_FACTOR,
    idempotency: idempotencyOf(draft, emailAnswer(id, messageId, status, draft), sendAt ?? acceptedAt),
  };
}

function judgeSendAt(text: string | undefined, now: Date): Date | null {
  if (text === undefined) return null;
  const judged = parseSendAt(text, now.getTime());
  if ('fault' in judged) throw new Refusal(400, `\`sendAt\` ${judged.fault}`);
  return judged.at ?? null;
}

function idempotencyOf(
  draft: RawEmailDraft,
  answer: string,
  lastNeededAt: Date,
): IdempotencyClaim | undefined {
  if (draft.idempotencyKey === undefined) return undefined;
  return {
    key: draft.idempotencyKey,
    fingerprint: fingerprintOf(draft),
    answer,
    expiresAt: new Date(lastNeededAt.getTime() + IDEMPOTENCY_KEPT_MS),
  };
}

/** By which a repeated call is known to be the same one. */
export function fingerprintOf(draft: {
  readonly fingerprintSource: RawEmailDraft['fingerprintSource'];
}): Buffer {
  return fingerprint(canonicalJson(draft.fingerprintSource));
}
