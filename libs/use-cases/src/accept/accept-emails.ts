import { Coalescer, type DatabaseClock, type WorkspaceId } from '@posthorn/kernel';
import { type EmailDraft, type LaneId, type RawEmailDraft } from '@posthorn/domain';
import {
  type AcceptableEmail,
  type AcceptanceOutcome,
  type AcceptanceStore,
  type IdentityStore,
} from '@posthorn/database';
import { type LaneRings } from '@posthorn/queues';
import { acceptGroup } from './accept-group.ts';
import { emailAnswer } from './email-answer.ts';
import { leadersByKey, outcomeBehind } from './idempotency-leaders.ts';
import { fingerprintOf, prepareEmail } from './prepare-email.ts';
import {
  keyReused,
  noSuchTemplate,
  overLimit,
  orUnavailable,
  unavailable,
  unverifiedSender,
} from './refusals.ts';

const MOST_EMAILS_A_GROUP = 500;
const MOST_BYTES_A_GROUP = 8 * 1024 * 1024;
const GROUPS_AT_ONCE = 4;
/** How often a call may find its key given back by another before something is wrong. */
const MOST_ROUNDS = 20;

export interface AcceptEmailsOptions {
  readonly store: AcceptanceStore;
  readonly identities: Pick<IdentityStore, 'listVerified'>;
  readonly rings: Pick<LaneRings, 'ring'>;
  readonly clock: DatabaseClock;
  /** Emails a month of a workspace that has no limit of its own; null: none. */
  readonly monthlyLimit: number | null;
}

/** An accepted email: the JSON of its Email object, and whether an earlier call was answered with the very same. */
export interface Acceptance {
  readonly email: string;
  readonly isReplay: boolean;
}

/**
 * Accepts emails: once this has answered they are durable, and nothing but a permanent refusal stops them. Calls that
 * are in flight together share one transaction, whichever workspaces they are from.
 */
export class AcceptEmails {
  private readonly groups: Coalescer<AcceptableEmail, AcceptanceOutcome>;

  constructor(private readonly options: AcceptEmailsOptions) {
    this.groups = new Coalescer({
      serve: (emails) => this.acceptTogether(emails),
      maxItems: MOST_EMAILS_A_GROUP,
      maxBytes: MOST_BYTES_A_GROUP,
      bytesOf: (email) => email.bytes,
      tracks: GROUPS_AT_ONCE,
      trackOf: (email) => trackOf(email.workspaceId),
    });
  }

  /**
   * Accepts one email of a workspace.
   *
   * @throws Refusal 400 for an impossible `sendAt`, a sender that is not verified or an unknown template; 403 when the monthly limit
   *   is reached; 409 when the idempotency key stands for another payload; 503 when the database is out of reach
   */
  async acceptOne(workspaceId: WorkspaceId, draft: EmailDraft): Promise<Acceptance> {
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const email = await this.prepare(workspaceId, draft);
      if ('isReplay' in email) return email;
      const outcome = await this.groups.add(email);
      if (outcome.kind !== 'again') return this.answer(email, draft as RawEmailDraft, outcome);
    }
    throw unavailable();
  }

  /** What is wrong whatever the database says is only told after a replay had its chance. */
  private async prepare(workspaceId: WorkspaceId, draft: EmailDraft): Promise<AcceptableEmail | Acceptance> {
    try {
      if (draft.type === 'templated') throw noSuchTemplate(draft.template);
      return prepareEmail(workspaceId, draft, this.options.clock);
    } catch (refusal) {
      const replay = await this.findReplay(workspaceId, draft);
      if (replay === undefined) throw refusal;
      return replay;
    }
  }

  private async findReplay(workspaceId: WorkspaceId, draft: EmailDraft): Promise<Acceptance | undefined> {
    if (draft.idempotencyKey === undefined) return undefined;
    const answered = await orUnavailable(this.options.store.findAnswer(workspaceId, draft.idempotencyKey));
    return answered === undefined ? undefined : replay(draft, answered);
  }

  private async answer(
    email: AcceptableEmail,
    draft: RawEmailDraft,
    outcome: Exclude<AcceptanceOutcome, { kind: 'again' }>,
  ): Promise<Acceptance> {
    switch (outcome.kind) {
      case 'accepted':
        return { email: emailAnswer(email.id, email.messageId, email.status, draft), isReplay: false };
      case 'replayed':
        return replay(draft, outcome, email.idempotency?.answer);
      case 'unverified':
        throw unverifiedSender(
          draft.from.address,
          await orUnavailable(this.options.identities.listVerified(email.workspaceId)),
        );
      case 'over_limit':
        throw overLimit(outcome.used, outcome.monthlyLimit, this.options.clock.now());
      case 'failed':
        throw outcome.error;
    }
  }

  private async acceptTogether(emails: AcceptableEmail[]): Promise<AcceptanceOutcome[]> {
    const leaders = leadersByKey(emails);
    const first = [...new Set(leaders)];
    const outcomes = await acceptGroup(
      this.options.store,
      first.map((index) => emails[index]!),
      this.options.monthlyLimit,
    );
    const all = new Array<AcceptanceOutcome>(emails.length);
    first.forEach((index, place) => (all[index] = outcomes[place]!));
    emails.forEach((email, index) => {
      const leader = leaders[index]!;
      all[index] ??= outcomeBehind(emails[leader]!, all[leader]!, email);
    });
    this.ringFor(emails.filter((_email, index) => all[index]!.kind === 'accepted'));
    return all;
  }

  private ringFor(accepted: readonly AcceptableEmail[]): void {
    const rowsOfLane = new Map<LaneId, number>();
    for (const { laneId, sendAt } of accepted) {
      if (sendAt === null) rowsOfLane.set(laneId, (rowsOfLane.get(laneId) ?? 0) + 1);
    }
    // After the commit and not awaited: a ring that fails must not undo an acceptance that has happened.
    for (const [laneId, rows] of rowsOfLane) this.options.rings.ring(laneId, rows);
  }
}

function replay(
  draft: EmailDraft,
  answered: { readonly fingerprint: Buffer; readonly answer: string },
  ownAnswer?: string,
): Acceptance {
  if (!answered.fingerprint.equals(fingerprintOf(draft))) throw keyReused();
  // Its own answer under its own key: a try whose confirmation was lost had been committed.
  return { email: answered.answer, isReplay: answered.answer !== ownAnswer };
}

function trackOf(workspaceId: WorkspaceId): number {
  let hash = 0;
  for (let index = 0; index < workspaceId.length; index += 1)
    hash = (hash * 31 + workspaceId.charCodeAt(index)) | 0;
  return hash >>> 0;
}
