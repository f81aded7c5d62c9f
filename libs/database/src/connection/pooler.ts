import { CannotStart } from '@posthorn/kernel';

/** The startup parameters of a connection do not reach the server: something in between rejects or drops them. */
export class PoolerRefused extends CannotStart {
  constructor() {
    super(
      'A pooler such as PgBouncer is in front of Postgres and keeps no settings and prepared statements of a connection: point DATABASE_URL at Postgres itself',
    );
  }
}

/** The error of PgBouncer for a startup parameter that it does not know. */
export const UNSUPPORTED_AT_START = /unsupported startup parameter/;
