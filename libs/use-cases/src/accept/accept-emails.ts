import { type DatabaseClock, type ErrorBody, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { EmailDraft, JsonObject } from '@posthorn/domain';
import type {
  AcceptableCall,
  AcceptableEmail,
  AcceptanceOutcome,
  AcceptanceStore,
  KnownAnswer,
} from '@posthorn/database';
import { AcceptanceGroups, type AcceptanceGroupsOptions } from './acceptance-groups.ts';
import { BatchAnswer, type BatchItem, type PreparedItem } from './batch-answer.ts';
import { emailAnswer } from './email-answer.ts';
import { EmailPreparation, type EmailPreparationOptions } from './email-preparation.ts';
import { fingerprintOf, keptUntil } from './prepare-email.ts';
import { keyOfBatch, keyReused, refusalOf, unavailable } from './refusals.ts';

/** How often a call may find its key given back by another before something is wrong. */
const MAX_ROUNDS = 20;

export interface AcceptEmailsOptions extends AcceptanceGroupsOptions, EmailPreparationOptions {
  readonly store: AcceptanceStore;
  /** The error body that a refused item of a batch is shown with. */
  readonly errorBodyOf: (refusal: Refusal) => ErrorBody;
}

/** An accepted call: the JSON that it is answered with, and whether an earlier call was answered with the very same. */
export interface Acceptance {
  readonly answer: string;
  readonly isReplay: boolean;
}

/** A batch as its caller asked for it: each item a draft, or what is wrong with its shape. */
interface BatchDraft {
  readonly items: readonly BatchItem[];
  /** The key of the whole call. */
  readonly idempotencyKey?: string | undefined;
  /** Two batches are the same when the canonical JSON of this is. */
  readonly fingerprintSource: JsonObject;
  /** The place in its trace of the call; undefined: traces are off. */
  readonly traceparent?: string | undefined;
}

/**
 * Accepts emails: once this has answered they are durable, and nothing but a permanent refusal stops them. Calls that
 * are in flight together share one transaction, whichever workspaces they are from.
 */
export class AcceptEmails {
  private readonly groups: AcceptanceGroups;
  private readonly preparation: EmailPreparation;

  constructor(private readonly options: AcceptEmailsOptions) {
    this.preparation = new EmailPreparation(options);
    this.groups = new AcceptanceGroups(options);
  }

  /**
   * Accepts one email of a workspace; the answer is the JSON of its Email object.
   *
   * @param traceparent the place in its trace of what asks, if traces are on
   * @throws Refusal 400 for an impossible `sendAt`, a sender that is not verified, an unknown template or variables that
   *   are missing; 403 when the monthly limit is reached; 409 when the idempotency key stands for another payload; 503
   *   when the database is out of reach
   */
  async acceptOne(workspaceId: WorkspaceId, draft: EmailDraft, traceparent?: string): Promise<Acceptance> {
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const email = await this.preparation.prepare(workspaceId, draft, false, traceparent);
      if (!('id' in email)) return replay(email, draft);
      const outcome = await this.groups.add({ workspaceId, emails: [email] });
      if (outcome.kind === 'failed') throw outcome.error;
      if (outcome.kind !== 'judged' || outcome.emails[0]!.kind === 'contended') continue;
      return answerOne(email, draft, outcome.emails[0]!);
    }
    throw unavailable();
  }

  /**
   * Accepts the items of a batch together; the answer is the JSON that tells of each (F5).
   *
   * @throws Refusal 403 for the whole when the monthly limit was reached before; 409 when its key stands for another
   *   payload; 503 when the database is out of reach
   */
  async acceptBatch(workspaceId: WorkspaceId, batch: BatchDraft): Promise<Acceptance> {
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const prepared = await Promise.all(
        batch.items.map((item) => this.prepareItem(workspaceId, item, batch)),
      );
      const answer = new BatchAnswer(batch.items, prepared, this.options.errorBodyOf);
      const outcome = await this.groups.add(callOf(workspaceId, batch, answer, this.options.clock));
      switch (outcome.kind) {
        case 'failed':
          throw outcome.error;
        case 'again':
          continue;
        case 'replayed':
          return replayOfBatch(outcome, batch, answer);
        case 'judged':
          return { answer: outcome.answer ?? answer.textOrRefusal(outcome.emails), isReplay: false };
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
    if (idempotencyKey !== undefined && draft.idempotencyKey === idempotencyKey) return keyOfBatch();
    try {
      return await this.preparation.prepare(workspaceId, draft, true, traceparent);
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
      expiresAt: keptUntil(new Date(lastNeededMs)),
      answerFor: (outcomes) => answer.text(outcomes),
    },
  };
}

function replay(known: KnownAnswer, draft: EmailDraft, ownAnswer?: string): Acceptance {
  if (!known.fingerprint.equals(fingerprintOf(draft.fingerprintSource))) throw keyReused();
  // Its own answer under its own key: a try whose confirmation was lost had been committed.
  return { answer: known.answer, isReplay: known.answer !== ownAnswer };
}

function replayOfBatch(known: KnownAnswer, { fingerprintSource }: BatchDraft, own: BatchAnswer): Acceptance {
  if (!known.fingerprint.equals(fingerprintOf(fingerprintSource))) throw keyReused();
  // An email's id stands in no answer but that of the try that made it.
  const isOwn = own.emails.some(({ id }) => known.answer.includes(id));
  return { answer: known.answer, isReplay: !isOwn };
}
