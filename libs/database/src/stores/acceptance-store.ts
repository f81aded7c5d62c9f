import { type DatabaseClock, type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type pg from 'pg';
import { type Database } from '../connection.ts';
import {
  ACCEPT_EMAILS,
  FIND_EMAILS,
  GIVE_BACK_IDEMPOTENCY_KEYS,
  READ_IDEMPOTENCY_KEYS,
  TAKE_IDEMPOTENCY_KEYS,
} from '../sql/accept.ts';
import { type AcceptableEmail, emailsAsJson, keysAsJson } from './acceptable-email.ts';

export type AcceptanceOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'unverified' }
  | { readonly kind: 'over_limit'; readonly used: number; readonly monthlyLimit: number }
  /** The key was used before, by a call with this fingerprint, which was answered this. */
  | { readonly kind: 'replayed'; readonly fingerprint: Buffer; readonly answer: string }
  /** The key was taken by a call that then gave it back: judge this one afresh. */
  | { readonly kind: 'again' }
  /** The database refused this one's data, which nobody foresaw: our own fault. */
  | { readonly kind: 'failed'; readonly error: unknown };

interface AcceptRow {
  n: number;
  outcome: 'accepted' | 'unverified' | 'over_limit';
  used: number | null;
  monthlyLimit: number | null;
  now: Date;
}

/** A slower answer has waited, for a lock perhaps, and does not say at which point of that time the clock was read. */
const TELLING_WITHIN_MS = 100;

/** Makes accepted emails durable, a group at a time. */
export class AcceptanceStore {
  private readonly pool: pg.Pool;
  private readonly clock: DatabaseClock;

  constructor(database: Database) {
    this.pool = database.pool;
    this.clock = database.clock;
  }

  /**
   * Accepts a group in one transaction: whoever is accepted is so once this resolves, whoever is not leaves no trace.
   *
   * @param emails no two of them with the same key of the same workspace
   * @param monthlyLimit of workspaces that have none of their own; null: none
   * @throws what `pg` throws; see `faultOf` for what it means for the group
   */
  async accept(
    emails: readonly AcceptableEmail[],
    monthlyLimit: number | null,
  ): Promise<AcceptanceOutcome[]> {
    if (emails.every((email) => email.idempotency === undefined)) {
      // One statement is a transaction of its own: nothing else to say to the server.
      return this.acceptNumbered(this.pool, [...emails.entries()], emails.length, monthlyLimit);
    }
    const client = await this.pool.connect();
    let fault: Error | undefined;
    try {
      await client.query('BEGIN');
      const outcomes = await this.acceptWithKeys(client, emails, monthlyLimit);
      await client.query('COMMIT');
      return outcomes;
    } catch (error) {
      fault = error as Error;
      throw error;
    } finally {
      // A client that failed is not used again: its transaction ends with its connection.
      client.release(fault);
    }
  }

  /** Which of these emails have been accepted: asked when the answer to a COMMIT was lost. */
  async findAccepted(ids: readonly EmailId[]): Promise<Set<EmailId>> {
    const { rows } = await this.pool.query<{ id: string }>(FIND_EMAILS, [ids.map(uuidOf)]);
    return new Set(rows.map((row) => idFromUuid('trs', row.id)));
  }

  /** What a key stands for, if it is in use. */
  async findAnswer(
    workspaceId: WorkspaceId,
    key: string,
  ): Promise<{ fingerprint: Buffer; answer: string } | undefined> {
    const json = JSON.stringify([{ n: 0, workspace_id: uuidOf(workspaceId), key }]);
    const { rows } = await this.pool.query<{ fingerprint: Buffer; answer: string }>(READ_IDEMPOTENCY_KEYS, [
      json,
    ]);
    return rows[0];
  }

  private async acceptWithKeys(
    client: pg.PoolClient,
    emails: readonly AcceptableEmail[],
    monthlyLimit: number | null,
  ): Promise<AcceptanceOutcome[]> {
    const keyed = [...emails.entries()].filter(([, email]) => email.idempotency !== undefined);
    const taken = await this.takeKeys(client, keyed);
    const judged = [...emails.entries()].filter(
      ([n, email]) => email.idempotency === undefined || taken.has(n),
    );
    const outcomes = await this.acceptNumbered(client, judged, emails.length, monthlyLimit);
    await this.readKeys(
      client,
      keyed.filter(([n]) => !taken.has(n)),
      outcomes,
    );
    const refused = keyed.filter(([n]) => taken.has(n) && outcomes[n]!.kind !== 'accepted');
    if (refused.length > 0) await client.query(GIVE_BACK_IDEMPOTENCY_KEYS, [keysAsJson(refused)]);
    return outcomes;
  }

  private async acceptNumbered(
    client: pg.Pool | pg.PoolClient,
    emails: readonly [number, AcceptableEmail][],
    count: number,
    monthlyLimit: number | null,
  ): Promise<AcceptanceOutcome[]> {
    const outcomes = new Array<AcceptanceOutcome>(count).fill({ kind: 'again' });
    if (emails.length === 0) return outcomes;
    const askedAt = performance.now();
    const { rows } = await client.query<AcceptRow>({
      name: 'accept_emails',
      text: ACCEPT_EMAILS,
      values: [emailsAsJson(emails), monthlyLimit],
    });
    this.observeTime(rows[0]!.now, askedAt);
    for (const row of rows) outcomes[row.n] = outcomeOf(row);
    return outcomes;
  }

  private observeTime(now: Date, askedAt: number): void {
    if (performance.now() - askedAt < TELLING_WITHIN_MS) this.clock.observe(now.getTime(), askedAt);
  }

  private async takeKeys(client: pg.PoolClient, keyed: [number, AcceptableEmail][]): Promise<Set<number>> {
    const { rows } = await client.query<{ n: number }>(TAKE_IDEMPOTENCY_KEYS, [keysAsJson(keyed)]);
    return new Set(rows.map((row) => row.n));
  }

  private async readKeys(
    client: pg.PoolClient,
    keyed: [number, AcceptableEmail][],
    outcomes: AcceptanceOutcome[],
  ): Promise<void> {
    if (keyed.length === 0) return;
    const { rows } = await client.query<{ n: number; fingerprint: Buffer; answer: string }>(
      READ_IDEMPOTENCY_KEYS,
      [keysAsJson(keyed)],
    );
    for (const { n, fingerprint, answer } of rows) outcomes[n] = { kind: 'replayed', fingerprint, answer };
  }
}

function outcomeOf(row: AcceptRow): AcceptanceOutcome {
  if (row.outcome !== 'over_limit') return { kind: row.outcome };
  return { kind: 'over_limit', used: row.used ?? 0, monthlyLimit: row.monthlyLimit ?? 0 };
}
