import { type DatabaseClock, type ErrorBody, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { EmailDraft, JsonObject } from '@posthorn/domain';
import type {
  AcceptableCall,
  AcceptableEmail,
  AcceptanceOutcome,
  AcceptanceStore,
  KnownAnswer,
} from '@posthorn/database';
import { AcceptanceCoalescer, type AcceptanceCoalescerOptions } from './acceptance-coalescer.ts';
import { BatchAnswer, type BatchItem, type PreparedItem } from './batch-answer.ts';
import { emailAnswer } from './email-answer.ts';
import { EmailPreparation, type EmailPreparationOptions } from './email-preparation.ts';
import { fingerprintOf, keyExpiryAfter } from './prepare-email.ts';
import { keyIsOfBatch, keyReused, refusalOf, unavailable } from './refusals.ts';

/** How often a call may lose the race for its idempotency key before something is wrong. */
const MAX_ATTEMPTS = 20;

export interface AcceptEmailsOptions extends AcceptanceCoalescerOptions, EmailPreparationOptions {
  readonly store: AcceptanceStore;
  /** The error body of a refused item of a batch. */
  readonly errorBodyOf: (refusal: Refusal) => ErrorBody;
}

/** An accepted call: its response as JSON, and whether that is replayed from an earlier call with the same idempotency key. */
export interface Acceptance {
  readonly answer: string;
  readonly isReplay: boolean;
}

/** A batch as requested; each item is a draft, or the refusal of a malformed one. */
interface BatchDraft {
  readonly items: readonly BatchItem[];
  /** The idempotency key of the whole call. */
  readonly idempotencyKey?: string | undefined;
  /** Two batches are the same if the canonical JSON of this is the same. */
  readonly fingerprintSource: JsonObject;
  /** Undefined: tracing is off. */
  readonly traceparent?: string | undefined;
}

/**
 * Accepts emails: once this resolves they are durable, and only a permanent failure keeps them from being sent. Concurrent calls, of whichever workspaces,
 * share one transaction.
 */
export class AcceptEmails {
  private readonly groups: AcceptanceCoalescer;
  private readonly preparation: EmailPreparation;

  constructor(private readonly options: AcceptEmailsOptions) {
    this.preparation = new EmailPreparation(options);
    this.groups = new AcceptanceCoalescer(options);
  }

  /**
   * Accepts one email of a workspace; the answer is the JSON of its Email object.
   *
   * @param traceparent that of the request, if tracing is on
   * @throws Refusal 400 for an invalid `sendAt`, an unverified sender, an unknown template or missing variables; 403 when the monthly limit is reached; 409
   *   when the idempotency key was used with another payload; 503 when the database is unreachable
   */
  async acceptOne(workspaceId: WorkspaceId, draft: EmailDraft, traceparent?: string): Promise<Acceptance> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const email = await this.preparation.prepare(draft, { workspaceId, isBulk: false, traceparent });
      if (!('id' in email)) return replay(email, draft);
      const outcome = await this.groups.add({ workspaceId, emails: [email] });
      if (outcome.kind === 'failed') throw outcome.error;
      if (outcome.kind !== 'decided' || outcome.emails[0]!.kind === 'contended') continue;
      return answerOne(email, draft, outcome.emails[0]!);
    }
    throw unavailable();
  }

  /**
   * Accepts the items of a batch; the answer is the JSON with the result of each (F5).
   *
   * @throws Refusal 403 for the whole batch when the monthly limit was reached before it; 409 when its key was used with another payload; 503 when the
   *   database is unreachable
   */
  async acceptBatch(workspaceId: WorkspaceId, batch: BatchDraft): Promise<Acceptance> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const prepared = await Promise.all(
        batch.items.map((item) => this.prepareItem(workspaceId, item, batch)),
      );
      const answer = new BatchAnswer(batch.items, prepared, this.options.errorBodyOf);
      const outcome = await this.groups.add(callOf(workspaceId, batch, answer, this.options.clock));
      switch (outcome.kind) {
        case 'failed':
          throw outcome.error;
        case 'retry':
          continue;
        case 'replayed':
          return replayOfBatch(outcome, batch, answer);
        case 'decided':
          return answerBatch(outcome.answer ?? answer.jsonOrRefusal(outcome.emails));
      }
    }
    throw unavailable();
  }

  private async prepareItem(
    workspaceId: WorkspaceId,
    { draft }: BatchItem,
    { idempotencyKey, traceparent }: BatchDraft,
  ): Promise<PreparedItem> {
    if (draft instanceof Refusal) return draft;
    if (idempotencyKey !== undefined && draft.idempotencyKey === idempotencyKey) return keyIsOfBatch();
    try {
      return await this.preparation.prepare(draft, { workspaceId, isBulk: true, traceparent });
    } catch (refusal) {
      if (refusal instanceof Refusal) return refusal;
      throw refusal;
    }
  }
}

function answerOne(email: AcceptableEmail, draft: EmailDraft, outcome: AcceptanceOutcome): Acceptance {
  if (outcome.kind === 'accepted') return { answer: emailAnswer(email), isReplay: false };
  if (outcome.kind === 'replayed') return replay(outcome, draft, email.idempotency?.answer);
  throw refusalOf(outcome, email);
}

function answerBatch(answer: string | Refusal): Acceptance {
  if (answer instanceof Refusal) throw answer;
  return { answer, isReplay: false };
}

function callOf(
  workspaceId: WorkspaceId,
  { idempotencyKey, fingerprintSource }: BatchDraft,
  answer: BatchAnswer,
  clock: DatabaseClock,
): AcceptableCall {
  const { emails } = answer;
  if (idempotencyKey === undefined) return { workspaceId, emails };
  const lastNeededMs = Math.max(clock.nowMs(), ...emails.map(({ sendAt }) => sendAt?.getTime() ?? 0));
  return {
    workspaceId,
    emails,
    idempotency: {
      key: idempotencyKey,
      fingerprint: fingerprintOf(fingerprintSource),
      expiresAt: keyExpiryAfter(new Date(lastNeededMs)),
      answerFor: (outcomes) => {
        const given = answer.jsonOrRefusal(outcomes);
        return given instanceof Refusal ? undefined : given;
      },
    },
  };
}

function replay(known: KnownAnswer, draft: EmailDraft, ownAnswer?: string): Acceptance {
  if (!known.fingerprint.equals(fingerprintOf(draft.fingerprintSource))) throw keyReused(known.answer);
  // Its own answer under its own key: an earlier attempt of this call was committed, but its confirmation was lost.
  return { answer: known.answer, isReplay: known.answer !== ownAnswer };
}

function replayOfBatch(known: KnownAnswer, { fingerprintSource }: BatchDraft, own: BatchAnswer): Acceptance {
  if (!known.fingerprint.equals(fingerprintOf(fingerprintSource))) throw keyReused(known.answer);
  // The id of an email occurs only in the answer of the call that created it.
  const isOwn = own.emails.some(({ id }) => known.answer.includes(id));
  return { answer: known.answer, isReplay: !isOwn };
}
