import { CannotStart } from '@posthorn/kernel';
import { isOutage } from './faults.ts';
import { NEWEST_MIGRATION } from '../migrations/newest-migration.ts';
import { refusedConnection } from './refused-connection.ts';

const LOGIN = 'The database refuses the login: correct the name and password in DATABASE_URL';
const MIGRATE = 'The database is not at the newest migration: run npm run migrate';

/** By SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const SENTENCES: Readonly<Record<string, string>> = {
  '28P01': LOGIN,
  '28000': LOGIN,
  '3D000':
    'The server has no database of this name: correct DATABASE_URL, or create it and run npm run migrate',
  '42P01': MIGRATE,
  '42704': MIGRATE,
  '42883': MIGRATE,
  '42501':
    'The role in DATABASE_URL lacks a privilege: use the role that npm run migrate ran as, to which the tables belong',
  '25006': 'Postgres accepts no writes: point DATABASE_URL at the primary, and check that it accepts writes',
  '53300':
    'Postgres has no connection left: close unneeded ones, or raise max_connections, or the CONNECTION LIMIT of the role or the database if it has one',
};
const AWAY =
  'No database answers: check that it is running, that DATABASE_URL is correct, and that the network path to it is open';

/** A problem of the database that an operator can fix, found when a process starts. */
export class DatabaseUnusable extends CannotStart {
  private constructor(
    sentence: string,
    reason: Error,
    /** The code of Postgres or of the operating system; none if no connection can be opened at all. */
    readonly code?: string,
  ) {
    super(`${sentence} (${reason.message})`, { cause: reason });
  }

  /** The error to show to operators; one that they cannot fix is returned unchanged. */
  static because(error: unknown): unknown {
    // When a name has several addresses, each is tried.
    const reason = (error instanceof AggregateError ? error.errors[0] : error) as Error & { code?: string };
    const refused = refusedConnection(reason);
    if (refused !== undefined) return new DatabaseUnusable(refused, reason);
    const sentence = SENTENCES[reason.code ?? ''] ?? (isOutage(reason) ? AWAY : undefined);
    return sentence === undefined ? error : new DatabaseUnusable(sentence, reason, reason.code);
  }
}

/** The database lacks a migration of this release: statements would fail, each only when it is first needed. */
export class SchemaOutdated extends CannotStart {
  constructor() {
    super(`${MIGRATE} (${NEWEST_MIGRATION} is not applied)`);
  }
}

/** Throws an error of a connection: in words for operators if only they can make it possible, and otherwise as it is. */
export function throwRefusedConnection(error: unknown): never {
  throw refusedConnection(error) === undefined ? error : DatabaseUnusable.because(error);
}
