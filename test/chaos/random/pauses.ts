import { setTimeout as sleep } from 'node:timers/promises';
import { EraStore, HeldEmailStore, PausedLaneStore } from '@posthorn/database';
import { emailLanes, type LaneId } from '@posthorn/domain';
import { Refusal, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { pauseSending, resumeEverything, resumeWorkspace } from '@posthorn/use-cases/operate';
import { TESTS } from '../../e2e/stack.ts';
import { fromNow } from '../../e2e/times.ts';
import type { Account } from './account.ts';
import type { Browsers } from './browsers.ts';
import type { Cluster } from './cluster.ts';
import { insist } from './insist.ts';
import type { Random } from './random.ts';

const BETWEEN_LOOKS_MS = 200;
/** How long ago what is given up was due. */
const GIVEN_UP_MS = { least: 300, most: 5_000 };

/** Emails that are paused, and a database that is said to have been restored, until an operator lets it go on. */
export class Pauses {
  /** What should not have happened, in words. */
  readonly wrong: string[] = [];
  private readonly paused = new Map<WorkspaceId, number>();

  constructor(
    private readonly cluster: Cluster,
    private readonly accounts: readonly Account[],
    private readonly browsers: Browsers,
    private readonly random: Random,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    const acts = [
      () => this.pauseOne(),
      () => this.pauseOne(),
      () => this.giveUpOne(),
      () => this.pauseAll(),
      () => this.restore(),
    ];
    for (; !isOver(); await sleep(this.random.between(500, 3_000))) await this.random.pick(acts)();
  }

  /** What is still paused, and what is missing in the audit log, in words. */
  async leftovers(): Promise<string[]> {
    const { stack } = this.cluster;
    const found: string[] = [...this.wrong];
    const paused = await stack.count(`SELECT count(*) FROM paused_lanes WHERE queue = 'email'`);
    if (paused > 0) found.push(`${paused} lanes of emails are still paused`);
    for (const [id, times] of this.paused) {
      for (const action of ['workspace.paused', 'workspace.resumed']) {
        const sql = `SELECT count(*) FROM audit_log WHERE workspace_id = $1 AND action = $2 AND detail -> 'begun' IS NULL`;
        const entries = await stack.count(sql, [uuidOf(id), action]);
        if (entries !== times) found.push(`${id}: ${action} is recorded ${entries} times, not ${times}`);
      }
    }
    return found;
  }

  private pickOne(): WorkspaceId {
    const { workspaceId } = this.random.pick(this.accounts).tenant;
    this.paused.set(workspaceId, (this.paused.get(workspaceId) ?? 0) + 1);
    return workspaceId;
  }

  private async pauseOne(): Promise<void> {
    const workspaceId = this.pickOne();
    await this.pause({ whose: 'workspace', workspace: workspaceId }, emailLanes(workspaceId));
  }

  /** Pauses a workspace and gives up what was due in it, while some of that may be on its way. */
  private async giveUpOne(): Promise<void> {
    const workspaceId = this.pickOne();
    const { database } = this.cluster.stack;
    const pausedLanes = new PausedLaneStore(database);
    await insist(() => pauseSending(pausedLanes, workspaceId, TESTS, 'An unwanted campaign'));
    if (this.random.chance(0.5)) await sleep(this.random.between(0, 2_000));
    const held = new HeldEmailStore(database);
    const failBefore = this.momentToGiveUp();
    await insist(() =>
      resumeWorkspace({ held, pausedLanes }, workspaceId, TESTS, { failBefore }).catch(ignoreResumed),
    );
  }

  private async pauseAll(): Promise<void> {
    const whose = this.random.pick(['emails', 'webhooks']);
    await this.pause({ whose }, whose === 'emails' ? undefined : []);
  }

  /** Pauses what the form says, and resumes it. @param lanes those of emails that it pauses; undefined: all */
  private async pause(form: Record<string, string>, lanes: readonly LaneId[] | undefined): Promise<void> {
    await this.browsers.submit('/pauses', { ...form, reason: 'An incident' }, [303]);
    await this.rest(lanes);
    await this.browsers.submit('/pauses/resume', form, [303]);
  }

  /** What an operator does with a restored snapshot; the emails that were due earlier are sent again or given up. */
  private async restore(): Promise<void> {
    const { database } = this.cluster.stack;
    const eras = new EraStore(database);
    await insist(() => eras.beginByHand(TESTS));
    // Without a rest, some are still being sent.
    if (this.random.chance(0.5)) await this.rest();
    if (this.random.chance(0.3)) await insist(() => eras.beginByHand(TESTS));
    const options = this.random.chance(0.5) ? { failBefore: this.momentToGiveUp() } : {};
    await insist(() =>
      resumeEverything(eras, new PausedLaneStore(database), TESTS, options).catch(ignoreResumed),
    );
  }

  private momentToGiveUp(): string {
    return fromNow(-this.random.between(GIVEN_UP_MS.least, GIVEN_UP_MS.most));
  }

  /** Lets time pass, and notes each email that is claimed meanwhile. */
  private async rest(lanes?: readonly LaneId[]): Promise<void> {
    await this.untilOthersHaveEnded();
    const before = await this.claims(lanes);
    await sleep(this.random.between(0, 2_000));
    for (const [id, claims] of await this.claims(lanes))
      if (claims > (before.get(id) ?? 0)) this.wrong.push(`${id}: claimed while it was paused`);
  }

  /** Waits for the claims whose statements had begun before the pause was committed, however long they take. */
  private async untilOthersHaveEnded(): Promise<void> {
    const { pool } = this.cluster.stack.database;
    const now = 'SELECT clock_timestamp()::text AS now';
    const { rows: clock } = await insist(() => pool.query<{ now: string }>(now));
    const begun = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start <= $1::timestamptz`;
    while ((await insist(() => pool.query(begun, [clock[0]!.now]))).rowCount !== 0)
      await sleep(BETWEEN_LOOKS_MS);
  }

  /** The claims of the emails in these lanes that are being sent. */
  private async claims(lanes?: readonly LaneId[]): Promise<Map<string, number>> {
    const { pool } = this.cluster.stack.database;
    const sql = `SELECT subject_id AS id, claims FROM outbox WHERE state = 'taken' AND queue = 'email' AND ($1::text[] IS NULL OR lane_id = ANY ($1))`;
    const { rows } = await insist(() => pool.query<{ id: string; claims: number }>(sql, [lanes ?? null]));
    return new Map(rows.map(({ id, claims }) => [id, claims]));
  }
}

/** 409: it was resumed by a transaction whose answer was lost. */
function ignoreResumed(error: Error): void {
  if (!(error instanceof Refusal && error.statusCode === 409)) throw error;
}
