import type { DatabaseClock } from '@posthorn/kernel';
import type pg from 'pg';
import { ACCEPT_EMAILS, ACCEPT_KEYED_EMAILS } from '../../sql/accept.ts';
import {
  type AcceptableCall,
  type AcceptableEmail,
  type AcceptanceOutcome,
  type AllowedSenders,
  type CallOutcome,
  type EmailClaim,
  emailColumns,
  keyedEmailColumns,
  monthOf,
  type NumberedEmail,
} from './acceptable-email.ts';
import { CallKeys } from './call-keys.ts';
import { IdempotencyKeys, keyOf, type NumberedClaim } from './idempotency-keys.ts';

/** The row of ACCEPT_EMAILS about all accepted emails. */
interface AcceptedRow {
  readonly n: null;
  /** The numbers of the emails that were accepted. */
  readonly accepted: readonly number[];
  readonly now: Date;
}

/** Any other row of it: a refused email. */
type RefusedRow = { readonly n: number } & (
  | ({ readonly outcome: 'unverified' } & AllowedSenders)
  | { readonly outcome: 'over_limit'; readonly used: number; readonly monthlyLimit: number }
);

/** An email with a key of its own. */
type KeyedEmail = NumberedEmail & { readonly email: { readonly idempotency: EmailClaim } };

const ACCEPTED = { kind: 'accepted' } as const;

/** A round leaves few emails open: some whose key's first email was refused for another month, and some whose key was freed meanwhile. A second round rarely leaves any. */
const MAX_ROUNDS = 5;
const MAX_BYTES_PER_STATEMENT = 8 * 1024 * 1024;

/**
 * Accepts one group of calls, on a connection whose transaction the caller begins and ends.
 *
 * Two kinds of idempotency keys are involved: those of whole calls (batches; see {@link CallKeys}), and those of single emails. Within a group, several emails
 * may use the same key; then only the first is decided, and the others get its answer.
 */
export class AcceptanceTransaction {
  private readonly keys: IdempotencyKeys;
  private readonly callKeys: CallKeys;
  /** The emails of each call, numbered over all calls. */
  private readonly emails: readonly (readonly NumberedEmail[])[];
  /** By the number of the email; undefined: it is still open. */
  private readonly outcomes: (AcceptanceOutcome | undefined)[] = [];

  /** @param clock calibrated with the database's time */
  constructor(
    private readonly connection: pg.Pool | pg.PoolClient,
    calls: readonly AcceptableCall[],
    private readonly monthlyLimit: number | null,
    private readonly clock: Pick<DatabaseClock, 'observe'>,
  ) {
    this.keys = new IdempotencyKeys(connection);
    this.callKeys = new CallKeys(calls, this.keys);
    let n = -1;
    this.emails = calls.map(({ emails, idempotency }) =>
      emails.map((email) => ({ n: (n += 1), email, callKey: idempotency?.key })),
    );
  }

  /** Decides every email: inserts the accepted ones, takes their keys, and stores the answers of calls under theirs. @returns the outcomes in the order of the calls */
  async decide(): Promise<CallOutcome[]> {
    await this.callKeys.take();
    let open = this.emails.filter((_emails, index) => this.callKeys.isOpen(index)).flat();
    for (let round = 1; open.length > 0 && round <= MAX_ROUNDS; round += 1)
      open = await this.decideRound(open);
    return this.callKeys.answer((index) =>
      this.emails[index]!.map(({ n }): AcceptanceOutcome => this.outcomes[n] ?? { kind: 'contended' }),
    );
  }

  get accepted(): readonly AcceptableEmail[] {
    return this.emails.flatMap((emails) =>
      emails.filter(({ n }) => this.outcomes[n] === ACCEPTED).map(({ email }) => email),
    );
  }

  /** Decides emails in as many statements as it takes to keep each within its timeout (the largest batch has 50 MiB). @returns those that must be decided again */
  private async decideRound(open: readonly NumberedEmail[]): Promise<NumberedEmail[]> {
    for (const part of partsOf(open)) {
      await this.accept(part);
      await this.settleKeys(part.filter(isKeyed));
    }
    return open.filter(({ n }) => this.outcomes[n] === undefined);
  }

  /** Runs the statement that accepts emails. Emails without a row in its result are settled by {@link settleKeys}. */
  private async accept(emails: readonly NumberedEmail[]): Promise<void> {
    const askedAt = performance.now();
    const keyed = emails.some(isKeyed);
    const { rows } = await this.connection.query<AcceptedRow | RefusedRow>({
      name: keyed ? 'accept_keyed_emails' : 'accept_emails',
      text: keyed ? ACCEPT_KEYED_EMAILS : ACCEPT_EMAILS,
      values: [this.monthlyLimit, ...(keyed ? keyedEmailColumns(emails) : emailColumns(emails))],
    });
    for (const row of rows) {
      if (row.n !== null) {
        this.outcomes[row.n] = refusalOf(row);
        continue;
      }
      this.clock.observe(row.now.getTime(), askedAt);
      for (const n of row.accepted) this.outcomes[n] = ACCEPTED;
    }
  }

  /**
   * Settles emails with a key of their own. Of the emails with the same key: after an accepted one, the others are replays of it; if none has an outcome, the
   * key belongs to somebody else, and they get its answer; if all were refused, the key is given back.
   */
  private async settleKeys(keyed: readonly KeyedEmail[]): Promise<void> {
    const unused: NumberedClaim[] = [];
    const missed: NumberedClaim[] = [];
    const ofKeys = Map.groupBy(keyed, ({ email }) => keyOf(email.workspaceId, email.idempotency));
    for (const emails of ofKeys.values()) {
      const winner = emails.findIndex(({ n }) => this.outcomes[n] === ACCEPTED);
      if (winner >= 0) this.replay(emails[winner]!, emails.slice(winner + 1));
      else if (emails.every(({ n }) => this.outcomes[n] === undefined)) missed.push(...emails.map(claimOf));
      else {
        unused.push(claimOf(emails[0]!));
        this.refuseWithFirst(emails);
      }
    }
    await this.keys.giveBack(unused);
    for (const [n, answer] of await this.keys.read(missed))
      this.outcomes[n] = { kind: 'replayed', ...answer };
  }

  private replay({ email }: KeyedEmail, others: readonly KeyedEmail[]): void {
    const { fingerprint, answer } = email.idempotency;
    for (const { n } of others) this.outcomes[n] = { kind: 'replayed', fingerprint, answer };
  }

  /** If the first email of a key was refused because of the monthly limit, so are the others, unless they count in another month. */
  private refuseWithFirst(emails: readonly KeyedEmail[]): void {
    const first = emails.find(({ n }) => this.outcomes[n]?.kind === 'over_limit');
    if (first === undefined) return;
    for (const { n, email } of emails)
      if (monthOf(email) === monthOf(first.email)) this.outcomes[n] ??= this.outcomes[first.n];
  }
}

/** Whether these emails fit into one statement. */
export function fitOneStatement(calls: readonly AcceptableCall[]): boolean {
  const bytes = calls.reduce(
    (sum, { emails }) => sum + emails.reduce((all, email) => all + email.bytesToAccept, 0),
    0,
  );
  return bytes <= MAX_BYTES_PER_STATEMENT || (calls.length === 1 && calls[0]!.emails.length === 1);
}

function isKeyed(numbered: NumberedEmail): numbered is KeyedEmail {
  return numbered.email.idempotency !== undefined;
}

function claimOf({ n, email: { workspaceId, idempotency: claim } }: KeyedEmail): NumberedClaim {
  return { n, workspaceId, claim };
}

function partsOf(emails: readonly NumberedEmail[]): NumberedEmail[][] {
  const parts: NumberedEmail[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const numbered of emails) {
    bytes += numbered.email.bytesToAccept;
    if (bytes > MAX_BYTES_PER_STATEMENT) {
      parts.push([]);
      bytes = numbered.email.bytesToAccept;
    }
    parts.at(-1)!.push(numbered);
  }
  return parts;
}

function refusalOf(row: RefusedRow): AcceptanceOutcome {
  switch (row.outcome) {
    case 'unverified':
      return {
        kind: 'unverified',
        addresses: row.addresses,
        domains: row.domains,
        unverified: row.unverified,
      };
    case 'over_limit':
      return { kind: 'over_limit', used: row.used, monthlyLimit: row.monthlyLimit };
  }
}
