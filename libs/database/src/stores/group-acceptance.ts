import type { DatabaseClock } from '@posthorn/kernel';
import { SIZES } from '@posthorn/domain';
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
import { firstOfEachKey, IdempotencyKeys, keyOf } from './idempotency-keys.ts';

/** Where statements run: one connection inside a transaction, or the pool for a single one. */
type Connection = pg.Pool | pg.PoolClient;

/** The one row of ACCEPT_EMAILS that is about no email alone. */
interface AcceptedRow {
  readonly n: null;
  /** The numbers of the emails that were accepted. */
  readonly accepted: readonly number[];
  readonly now: Date;
}

/** Each other one: an email that was refused. */
interface RefusedRow {
  readonly n: number;
  readonly outcome: 'unverified' | 'over_limit';
  readonly used: number | null;
  readonly monthlyLimit: number | null;
  /** What the workspace may send from; null unless the sender is not verified. */
  readonly addresses: string[] | null;
  readonly domains: string[] | null;
}

const ACCEPTED = { kind: 'accepted' } as const;

/** An email of the group: its number over all calls, and which call it is of. */
interface Entry extends NumberedEmail {
  readonly call: number;
}

/** How many payloads under one key may be refused, one after the other, before the rest must come again; one batch never has more. */
const MOST_ROUNDS = SIZES.batch.most;
/** Of the memory that sending takes (`AcceptableEmail.bytes`): about 8 MiB of HTML and text. */
const MOST_BYTES_A_STATEMENT = 24 * 1024 * 1024;

/** The acceptance of one group of calls, on a connection whose transaction somebody else begins and ends. */
export class GroupAcceptance {
  private readonly entries: readonly Entry[];
  private readonly keys: IdempotencyKeys;
  /** The number of the first email of each call. */
  private readonly firstOf: readonly number[];
  private readonly outcomeOf: (AcceptanceOutcome | undefined)[] = [];
  private readonly callOutcomes: (CallOutcome | undefined)[];
  /** The keys that calls of this group have taken; see {@link keyOf}. */
  private readonly keysOfCalls = new Set<string>();

  constructor(
    private readonly connection: Connection,
    private readonly calls: readonly AcceptableCall[],
    private readonly monthlyLimit: number | null,
    /** Told the database's time. */
    private readonly clock: Pick<DatabaseClock, 'observe'>,
  ) {
    this.keys = new IdempotencyKeys(connection);
    let n = 0;
    this.firstOf = calls.map(({ emails }) => (n += emails.length) - emails.length);
    this.entries = calls.flatMap(({ emails, idempotency }, call) =>
      emails.map((email, place) => ({
        n: this.firstOf[call]! + place,
        call,
        email,
        callKey: idempotency?.key,
      })),
    );
    this.callOutcomes = new Array<CallOutcome | undefined>(calls.length);
  }

  /** The emails that are accepted. */
  get accepted(): readonly AcceptableEmail[] {
    return this.entries.filter(({ n }) => this.outcomeOf[n]?.kind === 'accepted').map(({ email }) => email);
  }

  /** Judges every email; writes those that are accepted, and takes their keys. */
  async judge(): Promise<void> {
    await this.takeCallKeys();
    let open = this.entries.filter((entry) => !this.isAnswered(entry));
    for (let round = 1; open.length > 0 && round <= MOST_ROUNDS; round += 1)
      open = await this.judgeRound(open);
  }

  /** Writes what calls with a key of their own are answered, and gives the outcomes in the order of the calls. */
  async answer(): Promise<CallOutcome[]> {
    const outcomes = this.calls.map((_call, index) => this.callOutcomes[index] ?? this.judged(index));
    const answers = this.callClaims().flatMap(({ n, workspaceId, claim }): NumberedClaim[] => {
      const outcome = outcomes[n]!;
      if (outcome.kind !== 'judged') return [];
      return [{ n, workspaceId, claim: { ...claim, answer: outcome.answer } }];
    });
    await this.keys.answer(answers.filter(({ claim }) => claim.answer !== undefined));
    await this.keys.giveBack(answers.filter(({ claim }) => claim.answer === undefined));
    return outcomes;
  }

  private judged(index: number): CallOutcome {
    const first = this.firstOf[index]!;
    const emails = this.calls[index]!.emails.map(
      (_email, place): AcceptanceOutcome => this.outcomeOf[first + place] ?? { kind: 'contended' },
    );
    return { kind: 'judged', emails, answer: this.calls[index]!.idempotency?.answerFor(emails) };
  }

  private callClaims(): NumberedClaim[] {
    return this.calls.flatMap(({ workspaceId, idempotency }, n) =>
      idempotency === undefined ? [] : [{ n, workspaceId, claim: idempotency }],
    );
  }

  /** A call whose key another call of this group has comes again after it. */
  private async takeCallKeys(): Promise<void> {
    const claims = this.callClaims();
    if (claims.length === 0) return;
    const first = firstOfEachKey(claims);
    const { taken, known } = await this.keys.take(first);
    for (const claim of claims) {
      const { n } = claim;
      if (taken.has(n)) {
        this.keysOfCalls.add(keyOf(claim));
        continue;
      }
      const answer = known.get(n);
      this.callOutcomes[n] = answer === undefined ? { kind: 'again' } : { kind: 'replayed', ...answer };
    }
  }

  /**
   * Whether there is nothing to judge: its whole call is answered, or it wants the key that its call has. One that wants a key that another call of this
   * group has just taken must come again: that call may still be refused, and give the key back.
   */
  private isAnswered({ n, call, email, callKey }: Entry): boolean {
    if (this.callOutcomes[call] !== undefined) return true;
    const { workspaceId, idempotency: claim } = email;
    if (claim === undefined) return false;
    if (claim.key !== callKey) return this.keysOfCalls.has(keyOf({ n, workspaceId, claim }));
    const { fingerprint } = this.calls[call]!.idempotency!;
    this.outcomeOf[n] = { kind: 'replayed', fingerprint, answer: '' };
    return true;
  }

  /** Judges the first email of each key; gives back those that must be judged after it. */
  private async judgeRound(open: readonly Entry[]): Promise<Entry[]> {
    const claims = open.flatMap(({ n, email }) =>
      email.idempotency === undefined
        ? []
        : [{ n, workspaceId: email.workspaceId, claim: email.idempotency }],
    );
    const first = firstOfEachKey(claims);
    const leaders = new Set(first.map(({ n }) => n));
    await this.accept(open.filter(({ n, email }) => email.idempotency === undefined || leaders.has(n)));
    const kindOf = ({ n }: NumberedClaim): string => this.outcomeOf[n]?.kind ?? 'missed';
    const missed = first.filter((claim) => kindOf(claim) === 'missed');
    await this.keys.giveBack(first.filter((claim) => !['missed', 'accepted'].includes(kindOf(claim))));
    for (const [n, answer] of await this.keys.read(missed))
      this.outcomeOf[n] = { kind: 'replayed', ...answer };
    this.followFirst(first, claims);
    return open.filter(({ n }) => this.outcomeOf[n] === undefined);
  }

  /** What becomes of an email that stands behind another of its group under the same key. */
  private followFirst(first: readonly NumberedClaim[], claims: readonly NumberedClaim[]): void {
    const firstOf = new Map(first.map((claim) => [keyOf(claim), claim]));
    const judgedAgain = new Set<string>();
    for (const { n, workspaceId, claim } of claims) {
      const key = keyOf({ n, workspaceId, claim });
      const leader = firstOf.get(key)!;
      const outcome = this.outcomeOf[leader.n];
      if (leader.n === n || outcome === undefined || judgedAgain.has(key)) continue;
      if (outcome.kind === 'accepted') {
        const { fingerprint, answer = '' } = leader.claim;
        this.outcomeOf[n] = { kind: 'replayed', fingerprint, answer };
      } else if (outcome.kind === 'replayed' || leader.claim.fingerprint.equals(claim.fingerprint)) {
        this.outcomeOf[n] = outcome; // the same payload judged at the same moment
      } else judgedAgain.add(key); // another payload finds a key that was given back, and whoever is behind it finds that payload
    }
  }

  /** In one statement, or in as many as keep each within its time: the largest batch has 50 MiB. Emails whose key another has get no outcome. */
  private async accept(entries: readonly Entry[]): Promise<void> {
    for (const part of partsOf(entries)) await this.acceptPart(part);
  }

  private async acceptPart(entries: readonly Entry[]): Promise<void> {
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

/** Whether these emails take one statement, which is a transaction of its own. */
export function fitOneStatement(calls: readonly AcceptableCall[]): boolean {
  const bytes = calls.reduce(
    (sum, { emails }) => sum + emails.reduce((all, email) => all + email.bytes, 0),
    0,
  );
  return bytes <= MOST_BYTES_A_STATEMENT || (calls.length === 1 && calls[0]!.emails.length === 1);
}

function partsOf(entries: readonly Entry[]): Entry[][] {
  const parts: Entry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    bytes += entry.email.bytes;
    if (bytes > MOST_BYTES_A_STATEMENT) {
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
