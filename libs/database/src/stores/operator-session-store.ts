import { SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import {
  type Actor,
  type JsonObject,
  operator,
  type OperatorRole,
  POSTHORN,
  SIGN_IN_ACTIONS,
  SIGN_INS_KEPT_DAYS,
} from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../connection.ts';
import { transactOn } from '../transaction.ts';
import { ofSystem, recordAudit } from './audit-log-store.ts';
import type { OperatorAccount } from './operator-account-store.ts';

/** Somebody without an account here, whom an identity provider has vouched for. */
export interface VouchedOperator {
  readonly issuer: string;
  /** With an `@`, so that it is no account's. */
  readonly name: string;
  readonly role: OperatorRole;
}

/** A session that begins. */
export interface NewSession {
  readonly tokenHash: Buffer;
  /** Where it is begun from: the audit log has it. */
  readonly network: string;
  /** Sessions that are older end. */
  readonly maxAgeMs: number;
}

/** Whose sessions count. */
export interface AdmittedSessions {
  /** Whether those of accounts do. */
  readonly ofAccounts: boolean;
  /** The provider whose word counts; undefined: none. */
  readonly issuer: string | undefined;
}

/** How a session is looked at. */
interface SessionLook {
  readonly maxAgeMs: number;
  /** How long it may have been left alone. */
  readonly maxIdleMs: number;
  /** Whether the look counts: the session is not alone then. */
  readonly isUse: boolean;
}

/** The browsers that are signed in to the dashboard, to an account or by the word of an identity provider. The log of the system is told who comes and goes. */
export class OperatorSessionStore {
  constructor(private readonly database: Database) {}

  /** Signs a browser in, if the account is still the one whose password was compared. Index: operator_accounts_name_key. Locks: the account. */
  signIn(name: string, passwordHash: string, session: NewSession): Promise<boolean> {
    return this.begin(session, operator(name), {}, async (client) => {
      const { rowCount } = await client.query(
        `WITH account AS (
           UPDATE operator_accounts SET signed_in_at = now() WHERE name = $1 AND password_hash = $2 RETURNING id
         )
         INSERT INTO operator_sessions (token_hash, account_id) SELECT $3, id FROM account`,
        [name, passwordHash, session.tokenHash],
      );
      return rowCount === 1;
    });
  }

  /** Signs a browser in by the word of an identity provider. */
  async signInVouched({ issuer, name, role }: VouchedOperator, session: NewSession): Promise<void> {
    await this.begin(session, operator(name), { issuer, role }, async (client) => {
      await client.query(
        'INSERT INTO operator_sessions (token_hash, issuer, name, role) VALUES ($1, $2, $3, $4)',
        [session.tokenHash, issuer, name, role],
      );
      return true;
    });
  }

  /**
   * Tells the log that the tries of a network are used up, once an hour: whoever asks may have lost count. What was tried last it names only
   * where that is an account: people mistake fields. Index: audit_log_by_action_idx.
   */
  recordRefusal(network: string, tried: string | null): Promise<void> {
    return transactOn(this.database, async (client) => {
      const { rows } = await client.query<{ name: string | null; isTold: boolean }>(
        `SELECT (SELECT name FROM operator_accounts WHERE name = $1) AS name,
                EXISTS (
                  SELECT FROM audit_log
                  WHERE  workspace_id = $2 AND action = 'operator.sign_in_refused' AND detail ->> 'network' = $3
                  AND    id >= uuid_v7_floor(now() - interval '1 hour')
                ) AS "isTold"`,
        [tried, uuidOf(SYSTEM_WORKSPACE_ID), network],
      );
      const { name, isTold } = rows[0]!;
      if (isTold) return;
      await this.record(client, 'operator.sign_in_refused', POSTHORN, {
        network,
        ...(name !== null && { name }),
      });
    });
  }

  /** Whose session it is, if it is neither too old nor was left alone for too long. Indexes: operator_sessions_pkey, operator_accounts_pkey. Locks: the session, if it is written. */
  async find(
    tokenHash: Buffer,
    { maxAgeMs, maxIdleMs, isUse }: SessionLook,
    { ofAccounts, issuer }: AdmittedSessions,
  ): Promise<OperatorAccount | undefined> {
    // Written down at most once a minute: a page is several requests. One of a time that has not come, because the clock was set back, begins anew.
    const { rows } = await this.database.pool.query<OperatorAccount>(
      `WITH seen AS (
         UPDATE operator_sessions SET last_seen_at = now(), created_at = least(created_at, now())
         WHERE  $6 AND token_hash = $1 AND last_seen_at NOT BETWEEN now() - interval '1 minute' AND now() + interval '1 minute'
         AND    last_seen_at > now() - make_interval(secs => $3::float8 / 1000)
       )
       SELECT    coalesce(a.name, s.name) AS name, coalesce(a.role, s.role) AS role,
                 coalesce(a.created_at, s.created_at) AS "createdAt", coalesce(a.signed_in_at, s.created_at) AS "signedInAt"
       FROM      operator_sessions s
       LEFT JOIN operator_accounts a ON a.id = s.account_id
       WHERE  s.token_hash = $1
       AND    CASE WHEN s.account_id IS NULL THEN s.issuer = $5 ELSE $4::boolean END
       AND    s.created_at > now() - make_interval(secs => $2::float8 / 1000)
       AND    s.last_seen_at > now() - make_interval(secs => $3::float8 / 1000)`,
      [tokenHash, maxAgeMs, maxIdleMs, ofAccounts, issuer ?? null, isUse],
    );
    return rows[0];
  }

  /** Ends a session, if there is one. Indexes: operator_sessions_pkey, operator_accounts_pkey. Locks: the session. */
  signOut(tokenHash: Buffer, network: string): Promise<void> {
    return transactOn(this.database, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `WITH ended AS (DELETE FROM operator_sessions WHERE token_hash = $1 RETURNING account_id, name)
         SELECT coalesce(a.name, e.name) AS name FROM ended e LEFT JOIN operator_accounts a ON a.id = e.account_id`,
        [tokenHash],
      );
      for (const { name } of rows)
        await this.record(client, 'operator.signed_out', operator(name), { network });
    });
  }

  /** Begins a session and tells the log, if it has begun; what is too old of both goes. Index: operator_sessions_by_age_idx. */
  private begin(
    { network, maxAgeMs }: NewSession,
    actor: Actor,
    detail: JsonObject,
    insert: (client: pg.PoolClient) => Promise<boolean>,
  ): Promise<boolean> {
    return transactOn(this.database, async (client) => {
      if (!(await insert(client))) return false;
      await client.query(
        'DELETE FROM operator_sessions WHERE created_at < now() - make_interval(secs => $1::float8 / 1000)',
        [maxAgeMs],
      );
      await this.record(client, 'operator.signed_in', actor, { network, ...detail });
      return true;
    });
  }

  /** Tells the log who came or went, and forgets what it was told so long ago. Index: audit_log_by_action_idx. */
  private async record(
    client: pg.PoolClient,
    action: (typeof SIGN_IN_ACTIONS)[number],
    actor: Actor,
    detail: JsonObject,
  ): Promise<void> {
    await recordAudit(client, this.database.clock.nowMs(), ofSystem(action, actor, detail));
    await client.query(
      `DELETE FROM audit_log
       WHERE  workspace_id = $1 AND action = ANY ($2::text[]) AND id < uuid_v7_floor(now() - make_interval(days => $3))`,
      [uuidOf(SYSTEM_WORKSPACE_ID), SIGN_IN_ACTIONS, SIGN_INS_KEPT_DAYS],
    );
  }
}
