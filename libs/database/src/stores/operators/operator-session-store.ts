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
import type { Database } from '../../connection/connection.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { ofSystem, recordAudit } from '../workspaces/audit-log-store.ts';
import type { OperatorAccount } from './operator-account-store.ts';

/** Somebody without an account here, whom an identity provider has authenticated. */
export interface VouchedOperator {
  readonly issuer: string;
  /** Contains an `@`, so that it cannot be an account's. */
  readonly name: string;
  readonly role: OperatorRole;
}

export interface NewSession {
  readonly tokenHash: Buffer;
  /** The network that it was started from, for the audit log. */
  readonly network: string;
  /** The maximum age of sessions; older ones are removed. */
  readonly maxAgeMs: number;
}

/** Which sessions are valid. */
export interface AdmittedSessions {
  /** Whether those of accounts are. */
  readonly ofAccounts: boolean;
  /** The trusted identity provider; undefined: none. */
  readonly issuer: string | undefined;
}

/** How a session is looked up. */
interface SessionLook {
  readonly maxAgeMs: number;
  /** The maximum time without activity. */
  readonly maxIdleMs: number;
  /** Whether the look-up counts as activity. */
  readonly isUse: boolean;
}

/**
 * Sessions of the dashboard, of accounts or of users of an identity provider. Their starts and ends are recorded in the system's audit log.
 */
export class OperatorSessionStore {
  constructor(private readonly database: Database) {}

  /** Starts a session, if the account still has the password that was compared. Index: operator_accounts_name_key. Locks: the account. */
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

  /** Starts a session for somebody whom an identity provider has authenticated. */
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
   * Records that a network has used up its attempts, once an hour even if the caller has lost count. The last name tried is included only
   * if it is an account's: people type passwords into the wrong field. Index: audit_log_by_action_idx.
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

  /**
   * The operator of a session, if it is neither too old nor was inactive for too long. Indexes: operator_sessions_pkey,
   * operator_accounts_pkey. Locks: the session, if it is updated.
   */
  async find(
    tokenHash: Buffer,
    { maxAgeMs, maxIdleMs, isUse }: SessionLook,
    { ofAccounts, issuer }: AdmittedSessions,
  ): Promise<OperatorAccount | undefined> {
    // Updated at most once a minute, because a page takes several requests. A time in the future, from before the clock was set back, is
    // replaced.
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

  /**
   * Starts a session and records it in the audit log, if it was started; removes old sessions and entries. Index:
   * operator_sessions_by_age_idx.
   */
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

  /** Records the start or end of a session, and removes old entries of this kind. Index: audit_log_by_action_idx. */
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
