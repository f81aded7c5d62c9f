import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EraStore, PausedLaneStore } from '@posthorn/database';
import { PostgresTools, PrivatePostgres } from '@posthorn/testing';
import { resumeEverything } from '@posthorn/use-cases/operate';
import { TESTS } from '../../e2e/stack.ts';
import { type FeedEvent, FeedFollower } from '../feed-follower.ts';
import { settle } from '../settle.ts';
import { Account } from './account.ts';
import { checkLosses } from './check-losses.ts';
import { Cluster } from './cluster.ts';
import { History } from './history.ts';
import { type Backup, Past } from './lineage.ts';
import { LosingClient, type SentEmail } from './losing-client.ts';
import { messageIdOf, readOutcome } from './outcome.ts';
import { Random, SEED } from './random.ts';
import { Returns } from './returns.ts';

/** For how long the database is lost again and again. Longer by hand: `CHAOS_SECONDS=600 npm test -- test/chaos/random/random-losses`. */
const LOSSES_MS = Number(process.env['CHAOS_SECONDS'] ?? 25) * 1_000;
const CLIENTS = 6;

/** When a database was lost, and when the backup was begun that was restored then. */
interface Loss {
  readonly backedUpMs: number;
  readonly lostMs: number;
}

const tools = PostgresTools.find();
const describeWithTools = tools === undefined ? describe.skip : describe;

/** Needs a Postgres of the machine's own, with pg_dump and pg_restore. */
describeWithTools('A database that is lost and restored from a backup under load, again and again', () => {
  const random = new Random('losses');
  const history = new History();
  const past = new Past();
  const sent: SentEmail[] = [];
  const wrong: string[] = [];
  const backups: Backup[] = [];
  /** What was done, for the message of a failure. */
  const journal: string[] = [];
  let folder: string;
  /** Lets everybody in: each server has another password, and the apps know that of the first one. */
  let hbaFile: string;
  let cluster: Cluster;
  let account: Account;
  let isOver = false;
  let isHeld = false;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'posthorn-backups-'));
    // Servers run as another user where this is run by root.
    await chmod(folder, 0o755);
    hbaFile = join(folder, 'pg_hba.conf');
    await writeFile(hbaFile, 'host all all 127.0.0.1/32 trust\n');
    cluster = await Cluster.start({
      apps: ['gateway', 'sender', 'scheduler', 'webhook-dispatcher', 'inbound'],
      binaries: tools!.binaries,
    });
    account = await Account.open(cluster, cluster.stack.tenant, null);
  });
  afterAll(async () => {
    isOver = true;
    await cluster.close();
    await rm(folder, { recursive: true, force: true });
  });

  function note(what: string): void {
    journal.push(`${new Date().toISOString()} ${what}`);
  }

  async function backUp(): Promise<void> {
    const file = join(folder, `${backups.length}.dump`);
    const lineage = past.soFar();
    note(`backup ${backups.length} is begun`);
    await tools!.dump(cluster.postgres.url, file);
    backups.push({ ...lineage, file });
  }

  /** Loses the database, perhaps also Redis, and restores a backup; the apps run on, or are stopped or killed before. */
  async function loseAndRestore(): Promise<Loss> {
    const n = random.chance(0.6) ? backups.length - 1 : random.between(0, backups.length - 1);
    const how = random.pick(['run on', 'are stopped', 'are killed']);
    const isRedisLost = random.chance(0.5);
    note(`backup ${n} is restored; the apps ${how}${isRedisLost ? '; Redis is lost as well' : ''}`);
    const { places, redis } = cluster;
    if (how === 'are stopped') await Promise.all(places.map((place) => place.stop()));
    if (how === 'are killed') await Promise.all(places.map((place) => place.kill()));
    let lostMs = 0;
    await cluster.replaceDatabase(async () => {
      lostMs = Date.now();
      const restored = await PrivatePostgres.start({
        binaries: tools!.binaries,
        isEmpty: true,
        settings: { hba_file: hbaFile },
      });
      await tools!.restore(backups[n]!.file, restored.url);
      past.becomes(backups[n]!);
      if (isRedisLost) await redis.restart();
      return restored;
    });
    note('restored');
    isHeld = true;
    if (how !== 'run on') await Promise.all(places.map((place) => place.restart()));
    return { backedUpMs: backups[n]!.spans.at(-1)!.toMs, lostMs };
  }

  /** Sends everything, or gives up what may have been sent, or a part of it. */
  async function resume({ backedUpMs, lostMs }: Loss): Promise<void> {
    const { database } = cluster.stack;
    const failBeforeMs = random.pick([undefined, lostMs, random.between(backedUpMs, lostMs)]);
    const options = failBeforeMs === undefined ? {} : { failBefore: new Date(failBeforeMs).toISOString() };
    const resumed = await resumeEverything(
      new EraStore(database),
      new PausedLaneStore(database),
      TESTS,
      options,
    );
    isHeld = false;
    note(JSON.stringify({ ...options, ...resumed }));
    if (!resumed.wasRestored) wrong.push('the restore was not found out');
  }

  async function loseAgainAndAgain(): Promise<void> {
    let lastLoss: Loss | undefined;
    const aWhile = (): Promise<void> => sleep(random.between(500, 4_000));
    for (const startedAt = performance.now(); performance.now() - startedAt < LOSSES_MS;) {
      await aWhile();
      if (backups.length === 0 || random.chance(0.7)) await backUp();
      await aWhile();
      lastLoss = await loseAndRestore();
      await aWhile();
      if (random.chance(0.3)) await backUp();
      if (random.chance(0.7)) await resume(lastLoss);
    }
    if (isHeld) await resume(lastLoss!);
  }

  /** Follows the feed; where it has not come as far any more, from its beginning. @returns what it has read since then */
  async function follow(betweenReadsMs: number): Promise<() => Promise<readonly FeedEvent[]>> {
    let follower: FeedFollower;
    const begin = (): FeedFollower =>
      new FeedFollower(async (path) => {
        const answer = await account.get(path);
        if (answer.status === 410) throw new Error('gone');
        return answer;
      });
    const readOn = async (): Promise<void> => {
      try {
        await follower.readOn();
      } catch (error) {
        if ((error as Error).message !== 'gone') throw error;
        note('a follower of the feed begins again');
        follower = begin();
        await follower.readOn();
      }
    };
    follower = begin();
    for (; !isOver; await sleep(betweenReadsMs)) await readOn();
    return async () => {
      await readOn();
      return follower.events;
    };
  }

  it(
    `loses nothing that is in a backup, and doubles nothing without a mark (CHAOS_SEED=${SEED})`,
    async () => {
      const clients = Array.from({ length: CLIENTS }, (_, n) =>
        new LosingClient(account, sent, wrong, new Random(`client ${n}`)).run(() => isOver),
      );
      const returns = new Returns(cluster, history, new Random('returns')).run(() => isOver);
      const load = Promise.all([follow(100), follow(6_000), ...clients, returns]);
      // It is awaited below: until then, a client's failure would be an unhandled rejection.
      load.catch(() => undefined);
      await loseAgainAndAgain();
      isOver = true;
      const [often, seldom] = await load;
      cluster.calm();
      for (const id of account.webhookIds) await account.post(`/v1/webhooks/${id}`, { status: 'ACTIVE' });
      await settle(cluster.stack, cluster.receivers);
      for (const place of cluster.places) place.expectRunning();

      const outcomes = [
        await readOutcome(cluster, account, await often()),
        await readOutcome(cluster, account, await seldom()),
      ];
      const wanted = new Set(sent.map(({ to }) => to));
      const strangers = cluster.stack.sink.messages.filter(({ to }) => !wanted.has(to[0]!)).map(messageIdOf);
      const found = new Set([
        ...wrong,
        ...account.caller.wrong,
        ...strangers.map((id) => `${id}: a mail of nobody`),
        ...outcomes.flatMap((outcome) => checkLosses(sent, past, outcome)),
      ]);
      expect({ found: [...found], journal: found.size > 0 ? journal : [] }).toEqual({
        found: [],
        journal: [],
      });
      expect(outcomes[0]!.emails.length).toBeGreaterThan(0);
    },
    LOSSES_MS + 600_000,
  );
});
