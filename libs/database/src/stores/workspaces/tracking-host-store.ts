import { type EmailId, uuidOf } from '@posthorn/kernel';
import type { Database } from '../../connection/connection.ts';
import { ADMIT_LINKS } from '../../sql/tracking-hosts.ts';

/** A link of an email, and the name of the host at which it was followed. */
export interface LinkAtHost {
  readonly emailId: EmailId;
  readonly host: string;
}

/** The hosts that workspaces have of their own for tracked links. */
export class TrackingHostStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** Whether each link may redirect at its host: the host is no workspace's, or that of the workspace of the email. */
  async admit(links: readonly LinkAtHost[]): Promise<boolean[]> {
    const { rows } = await this.database.pool.query<{ isAdmitted: boolean }>(ADMIT_LINKS, [
      links.map(({ host }) => host),
      links.map(({ emailId }) => uuidOf(emailId)),
    ]);
    return rows.map(({ isAdmitted }) => isAdmitted);
  }
}
