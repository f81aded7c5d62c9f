import { idFromUuid, uuidOf } from '@posthorn/kernel';
import {
  timelineFacts,
  type Hit,
  type HitCounts,
  type HitEmail,
  type HitFact,
  type HitTally,
  tallyHits,
} from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../../connection/connection.ts';
import { addDueEventLanes, type WithEventLanes } from '../../transactions/due-event-lanes.ts';
import { COUNT_HITS, READ_HIT_EMAILS, TELL_HITS } from '../../sql/hits.ts';
import { transactOn } from '../../transactions/transaction.ts';

type HitEmailRow = Omit<HitEmail, 'emailId' | 'workspaceId'> & { id: string; workspaceId: string };
type CountsRow = HitCounts & { id: string; xid: string };

/** Records opens and clicks of emails. */
export class HitStore {
  /** The last transaction that counted a group. If its answer is lost, only the database knows whether it was committed. */
  private readonly countedIn = new WeakMap<readonly Hit[], string>();

  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue'>) {}

  /**
   * Counts hits, adds them to the timelines of their emails, and creates events for the first ones by people; atomically. Hits of emails
   * that do not exist or were never sent are ignored.
   *
   * @param hits the same array is counted once, however often it is passed, so it can be retried after any failure
   */
  record(hits: readonly Hit[]): Promise<void> {
    return transactOn(this.database, async (client) => {
      const tallies = tallyHits(hits, await readEmails(client, hits));
      if (tallies.length === 0) return;
      const { rows } = await client.query<CountsRow>(COUNT_HITS, [
        JSON.stringify(tallies.map(tallyRow)),
        this.countedIn.get(hits),
      ]);
      if (rows.length === 0) return; // counted before
      this.countedIn.set(hits, rows[0]!.xid);
      const counts = new Map(rows.map((row) => [row.id, row]));
      const facts = tallies.flatMap((tally) => {
        const counted = counts.get(uuidOf(tally.email.emailId));
        return counted === undefined ? [] : timelineFacts(tally, counted);
      });
      if (facts.length === 0) return;
      const told = await client.query<WithEventLanes>(TELL_HITS, [JSON.stringify(facts.map(factRow))]);
      addDueEventLanes(client, told.rows[0]!.eventLanes);
    });
  }
}

async function readEmails(client: pg.ClientBase, hits: readonly Hit[]): Promise<HitEmail[]> {
  const ids = [...new Set(hits.map(({ emailId }) => uuidOf(emailId)))];
  const { rows } = await client.query<HitEmailRow>(READ_HIT_EMAILS, [ids]);
  return rows.map(({ id, workspaceId, ...known }) => ({
    ...known,
    emailId: idFromUuid('trs', id),
    workspaceId: idFromUuid('wrk', workspaceId),
  }));
}

function tallyRow({ email, ...tally }: HitTally): object {
  return {
    email_id: uuidOf(email.emailId),
    workspace_id: uuidOf(email.workspaceId),
    group_by: email.groupBy,
    opens: tally.opens,
    clicks: tally.clicks,
    machine_opens: tally.machineOpens,
    machine_clicks: tally.machineClicks,
    opened_at: tally.openedAt,
    clicked_at: tally.clickedAt,
  };
}

/** Hits by programs are not told apart; clicks by people are told apart by their URL. */
function factRow({ hit: { kind, at, sign, url }, email, triggersEvent }: HitFact): object {
  const by = sign === undefined ? 'person' : 'machine';
  const isClick = kind === 'click';
  return {
    email_id: uuidOf(email.emailId),
    workspace_id: uuidOf(email.workspaceId),
    kind: isClick ? 'CLICKED' : 'OPENED',
    at,
    detail: { by, ...(sign === undefined ? {} : { sign }), ...(isClick ? { url } : {}) },
    same: { by, ...(isClick && sign === undefined ? { url } : {}) },
    event: triggersEvent ? (isClick ? 'EMAIL_CLICKED' : 'EMAIL_OPENED') : null,
  };
}
