import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedFollower } from '../feed-follower.ts';
import { until } from '../../e2e/stack.ts';
import { settle } from '../settle.ts';
import { Account } from './account.ts';
import { Browsers } from './browsers.ts';
import { checkActs } from './check-acts.ts';
import { checkEmails } from './check-emails.ts';
import { checkEvents } from './check-events.ts';
import { checkReports } from './check-reports.ts';
import { Client } from './client.ts';
import { Cluster } from './cluster.ts';
import { Departures } from './departures.ts';
import { Erasures } from './erasures.ts';
import { FAULTS, monthAhead, PARTITIONED } from './faults.ts';
import { History } from './history.ts';
import { Operator } from './operators.ts';
import { messageIdOf, type Outcome, readOutcome } from './outcome.ts';
import { Pauses } from './pauses.ts';
import { Random, SEED } from './random.ts';
import { Removals } from './removals.ts';
import { Returns } from './returns.ts';

/** For how long there are faults. Longer by hand: `CHAOS_SECONDS=600 npm test -- test/chaos/random`. */
const FAULTS_MS = Number(process.env['CHAOS_SECONDS'] ?? 30) * 1_000;
const CLIENTS = 10;
const OPERATORS = 4;
/** So few that one of the two workspaces soon sends no more. */
const LIMIT = 150;
const BETWEEN_READS_MS = 100;

const RECOVERIES = `SELECT count(*)::int FROM webhook_recoveries WHERE state <> 'COMPLETED'`;
const MISSING = 'SELECT count(*)::int FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL';

describe('Random faults of everything', () => {
  const history = new History();
  /** The faults so far, for the message of a failure. */
  const journal: string[] = [];
  let cluster: Cluster;
  let accounts: Account[];
  let departures: Departures;
  let erasures: Erasures;
  let removals: Removals;
  let browsers: Browsers;
  let pauses: Pauses;
  let returns: Returns;
  let isOver = false;

  beforeAll(async () => {
    cluster = await Cluster.start();
    const { stack } = cluster;
    accounts = [
      await Account.open(cluster, stack.tenant, null),
      await Account.open(cluster, await stack.createTenant('Limited', LIMIT), LIMIT),
    ];
    departures = new Departures(cluster, new Random('departures'));
    const erasing = await Account.open(cluster, await stack.createTenant('Erasing'), null);
    erasures = new Erasures(cluster, erasing, new Random('erasures'));
    removals = new Removals(cluster, await stack.createTenant('Keeping'), new Random('removals'));
    browsers = await Browsers.open(cluster, new Random('browsers'));
    pauses = new Pauses(cluster, accounts, browsers, new Random('pauses'));
    returns = new Returns(cluster, history, new Random('returns'));
  });
  afterAll(async () => {
    isOver = true;
    await cluster.close();
  });

  /** Lets one part fail again and again. */
  async function disturb(part: string): Promise<void> {
    const random = new Random(part);
    const faults = Object.entries(FAULTS[part]!);
    for (const startedAt = performance.now(); performance.now() - startedAt < FAULTS_MS;) {
      const [name, fault] = random.pick(faults);
      journal.push(`${new Date().toISOString()} ${name}`);
      await fault(cluster, random);
      await sleep(random.between(500, 5_000));
    }
  }

  async function follow(feed: FeedFollower): Promise<void> {
    for (; !isOver; await sleep(BETWEEN_READS_MS)) await feed.readOn();
  }

  /** Waits until everything that was accepted is decided and told, and the months to come are there again. */
  async function comeToRest(): Promise<void> {
    const { stack, receivers } = cluster;
    cluster.calm();
    for (const account of accounts) {
      for (const id of account.webhookIds) await account.post(`/v1/webhooks/${id}`, { status: 'ACTIVE' });
      await account.deleteUnknownWebhooks();
    }
    await until(async () => (await stack.count(RECOVERIES)) === 0, 'no recovery is under way');
    await settle(stack, receivers);
    const months = [0, 1, 2, 3].flatMap((ahead) => PARTITIONED.map((name) => `${name}_${monthAhead(ahead)}`));
    await until(async () => (await stack.count(MISSING, [months])) === 0, 'the months to come are there');
  }

  /** Mails that no email explains. */
  function strangers(outcomes: readonly Outcome[], deleted: readonly string[]): string[] {
    const recorded = outcomes.flatMap(({ emails }) => emails.map(({ messageId }) => messageId));
    const known = new Set([...recorded, ...deleted]);
    return cluster.stack.sink.messages.map(messageIdOf).filter((id) => !known.has(id));
  }

  it(
    `lose nothing, double nothing that is not marked, and everything is told and counted (CHAOS_SEED=${SEED})`,
    async () => {
      const clients = Array.from({ length: CLIENTS }, (_, n) =>
        new Client(accounts, history, new Random(`client ${n}`)).run(() => isOver),
      );
      const feeds = accounts.map((account) => account.follower());
      const operators = Array.from({ length: OPERATORS }, (_, n) =>
        new Operator(cluster, accounts, history, browsers, new Random(`operator ${n}`)).run(() => isOver),
      );
      const others = [departures, erasures, removals, pauses, returns].map((actor) =>
        actor.run(() => isOver),
      );
      const load = Promise.all([...clients, ...operators, ...feeds.map(follow), ...others]);
      // It is awaited below: until then, a client's failure would be an unhandled rejection.
      load.catch(() => undefined);
      await Promise.all(Object.keys(FAULTS).map(disturb));
      isOver = true;
      await load;
      await comeToRest();
      await Promise.all(feeds.map((feed) => feed.readOn()));
      for (const place of cluster.places) place.expectRunning();

      const outcomes = await Promise.all(
        accounts.map((account, n) => readOutcome(cluster, account, feeds[n]!.events)),
      );
      const found = [
        ...accounts.flatMap(({ caller }) => caller.wrong),
        ...history.wrong,
        ...browsers.wrong,
        ...outcomes.flatMap((outcome) => checkEmails(history, outcome)),
        ...outcomes.flatMap((outcome) => checkEvents(history, outcome)),
        ...outcomes.flatMap((outcome) => checkActs(history, outcome)),
        ...outcomes.flatMap((outcome) => checkReports(history, outcome)),
        ...(await pauses.leftovers()),
        ...(await departures.leftovers()),
        ...(await erasures.leftovers()),
        ...(await removals.leftovers()),
        ...strangers(outcomes, [...departures.messageIds, ...erasures.messageIds]).map(
          (id) => `${id}: a mail of no email`,
        ),
      ];
      expect({ found, journal: found.length > 0 ? journal : [] }).toEqual({ found: [], journal: [] });
      expect(outcomes.map(({ emails }) => emails.length > 0)).toEqual([true, true]);
    },
    FAULTS_MS + 600_000,
  );
});
