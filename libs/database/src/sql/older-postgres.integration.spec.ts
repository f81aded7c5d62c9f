import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SORTS } from '@posthorn/domain';
import { PostgresTools, PrivatePostgres } from '@posthorn/testing';
import { TestStores } from '../test-stores.fixture.ts';
import { crowdEmails } from './crowded-emails.fixture.ts';
import { type EmailFilter, listEmails } from './email-list.ts';
import { executedPlan, pagesTouched } from './plan.fixture.ts';

const DAY_MS = 86_400_000;
/** A page of 51 emails reads about four pages of the table and its indexes for each email. */
const MAX_PAGES = 500;

const FILTERS: EmailFilter[] = [
  {},
  { to: 'user2500@example.net' },
  { to: 'user2500@example.net', status: 'BOUNCED' },
  { template: 'welcome' },
  { groupBy: 'order-501' },
  { groupBy: 'many', status: 'FAILED' },
];

const tools = PostgresTools.find();

/** The machine's Postgres is usually older than the packaged one: Debian 12, on which CI runs, has 15. */
(tools === undefined ? describe.skip : describe)(
  'S18: On the Postgres of the machine, a list of emails',
  () => {
    let postgres: PrivatePostgres;
    let stores: TestStores;
    beforeAll(async () => {
      postgres = await PrivatePostgres.start({ binaries: tools!.binaries, isEmpty: false });
      stores = new TestStores(postgres.url, 2);
    });
    afterAll(async () => {
      await stores.close();
      await postgres.close();
    });

    it('reads what its filters find, and no more of the index', async () => {
      const workspace = await stores.openWorkspace();
      const to = new Date();
      const from = new Date(to.getTime() - 60 * DAY_MS);
      await crowdEmails(postgres.url, workspace, { count: 150_000, from, to });
      const costly: object[] = [];
      for (const filter of FILTERS) {
        for (const sort of SORTS) {
          const window = { sort, start: undefined, maxSeen: 10_000, maxGiven: 51 };
          const plan = await executedPlan(stores.database.pool, listEmails(workspace, window, filter));
          if (pagesTouched(plan) > MAX_PAGES) costly.push({ filter, sort, pages: pagesTouched(plan) });
        }
      }
      expect(costly).toEqual([]);
    });
  },
);
