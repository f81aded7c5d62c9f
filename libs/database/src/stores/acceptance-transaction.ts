import type { DatabaseClock } from '@posthorn/kernel';
import type pg from 'pg';
import { ACCEPT_EMAILS, ACCEPT_KEYED_EMAILS } from '../sql/accept.ts';
import {
  type AcceptableCall,
  type AcceptableEmail,
  type AcceptanceOutcome,
  type CallOutcome,
  emailColumns,
  keyedEmailColumns,
  type NumberedClaim,
  type NumberedEmail,
} from './acceptable-email.ts';
import { IdempotencyKeys, keyOf } from './idempotency-keys.ts';

/** A connection in a transaction; or the pool, for a single statement. */
type Connection = pg.Pool | pg.PoolClient;

/** The row of ACCEPT_EMAILS about all accepted emails. */
interface AcceptedRow {
  readonly n: null;
  /** The numbers of the emails that were accepted. */
  readonly accepted: readonly number[];
  readonly now: Date;
}

/** Any other row of it: a refused email. */
interface RefusedRow {
  readonly n: number;
  readonly outcome: 'unverified' | 'over_limit';
  readonly used: number | null;
  readonly monthlyLimit: number | null;
  /** What the workspace may send from; null unless the sender is unverified. */
  readonly addresses: string[] | null;
  readonly domains: string[] | null;
}

const ACCEPTED = { kind: 'accepted' } as const;

/** An email of the group, with its number over all calls and the index of its call. */
interface Entry extends NumberedEmail {
  readonly call: number;
}

/** A round leaves few emails open: some whose key's first email was refused for another month, and some whose key was freed meanwhile. A second round rarely leaves any. */
const MAX_ROUNDS = 5;
/** In terms of `AcceptableEmail.bytes`, which is the memory for sending: about 8 MiB of HTML and text. */
const MAX_BYTES_PER_STATEMENT = 24 * 1024 * 1024;

/**
 * Accepts one group of calls, on a connection whose transaction the caller begins and ends.
 *
 * Two kinds of idempotency keys are involved: those of whole calls (batches), and those of single emails. Within a group, several calls or emails may use the
 * same key; then only the first is decided, and the others get its answer.
 */
export class AcceptanceTransaction {
  private readonly entries: readonly Entry[];
  private readonly keys: IdempotencyKeys;
  /** The number of the first email of each call. */
  private readonly firstNumberOf: readonly number[];
  private readonly outcomeOf: (AcceptanceOutcome | undefined)[] = [];
  private readonly callOutcomes: (CallOutcome | undefined)[];
  /** By the index of a call that repeats the key of an earlier call: the index of that call. */
  private readonly repeats = new Map<number, number>();

  constructor(
    private readonly connection: Connection,
    private readonly calls: readonly AcceptableCall[],
    private readonly monthlyLimit: number | null,
    /** Calibrated with the database's time. */
    private readonly clock: Pick<DatabaseClock, 'observe'>,
  ) {
    this.keys = new IdempotencyKeys(connection);
    let n = 0;
    this.firstNumberOf = calls.map(({ emails }) => (n += emails.length) - emails.length);
    this.entries = calls.flatMap(({ emails, idempotency }, call) =>
      emails.map((email, position) => ({
        n: this.firstNumberOf[call]! + position,
        call,
        email,
        callKey: idempotency?.key,
      })),
    );
    this.callOutcomes = new Array<CallOutcome | undefined>(calls.length);
  }

  /** The accepted emails. */
  get accepted(): readonly AcceptableEmail[] {
    return this.entries.filter(({ n }) => this.outcomeOf[n]?.kind === 'accepted').map(({ email }) => email);
  }

  /** Decides every email; inserts the accepted ones and takes their keys. */
  async decide(): Promise<void> {
    await this.takeCallKeys();
    let open = this.entries.filter(({ call }) => this.callOutcomes[call] === undefined);
    for (let round = 1; open.length > 0 && round <= MAX_ROUNDS; round += 1)
      open = await this.decideRound(open);
  }

  /** Stores the answers of calls with a key of their own; resolves with the outcomes in the order of the calls. */
  async answer(): Promise<CallOutcome[]> {
    const outcomes = this.calls.map((_call, index) => this.callOutcomes[index] ?? this.decidedOutcome(index));
    for (const [index, first] of this.repeats)
      outcomes[index] = this.isRefusedWith(index, first, outcomes[first]!)
        ? outcomes[first]!
        : replayOf(outcomes[first]!, this.calls[first]!.idempotency!.fingerprint);
    const answers = this.callClaims().flatMap(({ n, workspaceId, claim }): NumberedClaim[] => {
      const outcome = outcomes[n]!;
      if (outcome.kind !== 'decided') return [];
      return [{ n, workspaceId, claim: { ...claim, answer: outcome.answer } }];
    });
    await this.keys.answer(answers.filter(({ claim }) => claim.answer !== undefined));
    await this.keys.giveBack(answers.filter(({ claim }) => claim.answer === undefined));
    return outcomes;
  }

  private decidedOutcome(index: number): CallOutcome {
    const first = this.firstNumberOf[index]!;
    const emails = this.calls[index]!.emails.map(
      (_email, position): AcceptanceOutcome => this.outcomeOf[first + position] ?? { kind: 'contended' },
    );
    return { kind: 'decided', emails, answer: this.calls[index]!.idempotency?.answerFor(emails) };
  }

  private callClaims(): NumberedClaim[] {
    return this.calls.flatMap(({ workspaceId, idempotency }, n) =>
      idempotency === undefined ? [] : [{ n, workspaceId, claim: idempotency }],
    );
  }

  /** Takes the keys of calls, and sets the outcome of calls whose key is taken already. */
  private async takeCallKeys(): Promise<void> {
    this.deferRepeats();
    const claims = this.callClaims().filter(({ n }) => this.callOutcomes[n] === undefined);
    const { taken, known } = await this.keys.take(claims);
    for (const { n } of claims) {
      if (taken.has(n)) continue;
      const answer = known.get(n);
      this.callOutcomes[n] = answer === undefined ? { kind: 'retry' } : { kind: 'replayed', ...answer };
    }
  }

  /**
   * Defers calls that share a key with an earlier call of this group, if it is the call key of either of them: whether a call key is used up is known only when
   * all emails of the call have been decided. The first call of a group is never deferred.
   */
  private deferRepeats(): void {
    if (this.calls.every(({ idempotency }) => idempotency === undefined)) return;
    const [ofCalls, ofEmails] = [new Map<string, number>(), new Set<string>()];
    this.calls.forEach(({ workspaceId, emails, idempotency }, index) => {
      const own = idempotency && keyOf({ workspaceId, claim: idempotency });
      const keys = emails.flatMap(({ idempotency: claim }) => (claim ? [keyOf({ workspaceId, claim })] : []));
      const first = own === undefined ? undefined : ofCalls.get(own);
      if (first !== undefined) this.repeats.set(index, first);
      const isWanted = own !== undefined && (first !== undefined || ofEmails.has(own));
      if (isWanted || keys.some((key) => ofCalls.has(key))) {
        this.callOutcomes[index] = { kind: 'retry' };
        return;
      }
      if (own !== undefined) ofCalls.set(own, index);
      keys.forEach((key) => ofEmails.add(key));
    });
  }

  /** Decides emails in as many statements as it takes to keep each within its timeout (the largest batch has 50 MiB). @returns those that must be decided again */
  private async decideRound(open: readonly Entry[]): Promise<Entry[]> {
    for (const part of partsOf(open)) {
      await this.accept(part);
      await this.settleItemKeys(part);
    }
    return open.filter(({ n }) => this.outcomeOf[n] === undefined);
  }

  /**
   * Settles emails with a key of their own. Of the emails with the same key: after an accepted one, the others are replays of it; if none has an outcome, the
   * key belongs to somebody else, and they get its answer; if all were refused, the key is given back.
   */
  private async settleItemKeys(part: readonly Entry[]): Promise<void> {
    const unused: NumberedClaim[] = [];
    const missed: NumberedClaim[] = [];
    for (const claims of Map.groupBy(claimsOf(part), keyOf).values()) {
      const winner = claims.findIndex(({ n }) => this.outcomeOf[n]?.kind === 'accepted');
      if (winner >= 0) this.replay(claims.slice(winner + 1), claims[winner]!.claim);
      else if (claims.every(({ n }) => this.outcomeOf[n] === undefined)) missed.push(...claims);
      else {
        unused.push(claims[0]!);
        this.refuseWithFirst(claims);
      }
    }
    await this.keys.giveBack(unused);
    for (const [n, answer] of await this.keys.read(missed))
      this.outcomeOf[n] = { kind: 'replayed', ...answer };
  }

  private replay(
    claims: readonly NumberedClaim[],
    { fingerprint, answer = '' }: NumberedClaim['claim'],
  ): void {
    for (const { n } of claims) this.outcomeOf[n] = { kind: 'replayed', fingerprint, answer };
  }

  /** If the first email of a key was refused because of the monthly limit, so are the others, unless they count in another month. */
  private refuseWithFirst(claims: readonly NumberedClaim[]): void {
    const first = claims.find(({ n }) => this.outcomeOf[n]?.kind === 'over_limit');
    if (first === undefined) return;
    for (const { n } of claims)
      if (this.monthOf(n) === this.monthOf(first.n)) this.outcomeOf[n] ??= this.outcomeOf[first.n];
  }

  /** Whether a call that repeats an earlier one shares its refusal; otherwise, of many such calls only one would be decided per round. */
  private isRefusedWith(index: number, first: number, outcome: CallOutcome): boolean {
    const [call, before] = [this.calls[index]!, this.calls[first]!];
    return (
      outcome.kind === 'decided' &&
      outcome.answer === undefined &&
      call.emails.length === before.emails.length &&
      call.idempotency!.fingerprint.equals(before.idempotency!.fingerprint) &&
      this.monthOf(this.firstNumberOf[index]!) === this.monthOf(this.firstNumberOf[first]!)
    );
  }

  private monthOf(n: number): string {
    return this.entries[n]!.email.acceptedAt.toISOString().slice(0, 'yyyy-mm'.length);
  }

  /** Runs the statement that accepts emails. Emails without a row in its result are settled by {@link settleItemKeys}. */
  private async accept(entries: readonly Entry[]): Promise<void> {
    const askedAt = performance.now();
    const keyed = entries.some(({ email }) => email.idempotency !== undefined);
    const { rows } = await this.connection.query<AcceptedRow | RefusedRow>({
      name: keyed ? 'accept_keyed_emails' : 'accept_emails',
      text: keyed ? ACCEPT_KEYED_EMAILS : ACCEPT_EMAILS,
      values: [this.monthlyLimit, ...(keyed ? keyedEmailColumns(entries) : emailColumns(entries))],
    });
    for (const row of rows) {
      if (row.n !== null) {
        this.outcomeOf[row.n] = refusalOf(row);
        continue;
      }
      this.clock.observe(row.now.getTime(), askedAt);
      for (const n of row.accepted) this.outcomeOf[n] = ACCEPTED;
    }
  }
}

/** Whether these emails fit into one statement. */
export function fitOneStatement(calls: readonly AcceptableCall[]): boolean {
  const bytes = calls.reduce(
    (sum, { emails }) => sum + emails.reduce((all, email) => all + email.bytes, 0),
    0,
  );
  return bytes <= MAX_BYTES_PER_STATEMENT || (calls.length === 1 && calls[0]!.emails.length === 1);
}

/** The outcome of a call with the same key as an earlier call of its group, whatever its payload. */
function replayOf(outcome: CallOutcome, fingerprint: Buffer): CallOutcome {
  if (outcome.kind === 'replayed') return outcome;
  if (outcome.kind !== 'decided' || outcome.answer === undefined) return { kind: 'retry' };
  return { kind: 'replayed', fingerprint, answer: outcome.answer };
}

function claimsOf(entries: readonly Entry[]): NumberedClaim[] {
  return entries.flatMap(({ n, email: { workspaceId, idempotency: claim } }) =>
    claim === undefined ? [] : [{ n, workspaceId, claim }],
  );
}

function partsOf(entries: readonly Entry[]): Entry[][] {
  const parts: Entry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    bytes += entry.email.bytes;
    if (bytes > MAX_BYTES_PER_STATEMENT) {
      parts.push([]);
      bytes = entry.email.bytes;
    }
    parts.at(-1)!.push(entry);
  }
  return parts;
}

function refusalOf({ outcome, used, monthlyLimit, addresses, domains }: RefusedRow): AcceptanceOutcome {
  switch (outcome) {
    case 'unverified':
      return { kind: 'unverified', addresses: addresses ?? [], domains: domains ?? [] };
    case 'over_limit':
      return { kind: 'over_limit', used: used ?? 0, monthlyLimit: monthlyLimit ?? 0 };
  }
}
