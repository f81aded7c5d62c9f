import { CannotStart } from '@posthorn/kernel';

/** The settings that a connection begins with do not reach the server: something in between refuses or drops them. */
export class PoolerRefused extends CannotStart {
  constructor() {
    super(
      'A pooler such as PgBouncer stands before Postgres and keeps no settings and prepared statements of a connection: point DATABASE_URL at Postgres itself',
    );
  }
}

/** What PgBouncer says to whoever begins with a setting that it does not know. */
export const UNSUPPORTED_AT_START = /unsupported startup parameter/;
